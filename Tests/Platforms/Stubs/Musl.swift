// Under this name the C library of this system is imported, over the headers of Musl.
@_exported public import Glibc
