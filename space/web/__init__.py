"""HTTP interface: endpoints, public routes, limits and the submit form."""
