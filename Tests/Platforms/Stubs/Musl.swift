// Imports this system's C library under Musl's name, compiled against Musl's headers.
@_exported public import Glibc
