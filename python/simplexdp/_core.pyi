# Stub of the compiled module, in the order of rust/py/src; the prose stands in the public Python functions.

__version__: str
