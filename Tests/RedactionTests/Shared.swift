/// Every file of this suite has what the suites share.
@_exported import ErrandTestSupport
