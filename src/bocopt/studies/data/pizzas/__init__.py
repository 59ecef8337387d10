"""Pizzas that were sold."""
