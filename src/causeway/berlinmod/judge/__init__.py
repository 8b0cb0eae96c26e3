"""Whether answers are right: representations against each other, statements against the paper's own text."""
