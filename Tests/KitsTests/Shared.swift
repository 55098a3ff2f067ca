/// Every file of this suite can use the shared test code.
@_exported import ErrandTestSupport
