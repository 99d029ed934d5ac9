"""MusiCRS as tasks of Inspect (https://inspect.aisi.org.uk). `_registry` names all that Inspect must find."""
