/// Exports the shared test support to every file of this suite.
@_exported import ErrandTestSupport
