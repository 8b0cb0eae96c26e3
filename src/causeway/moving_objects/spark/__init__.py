"""The operators on columns of Arrow, as Spark calls them."""
