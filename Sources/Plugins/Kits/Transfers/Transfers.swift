// Start here: a plugin starts a ``TransferHandle``. Its filter finds the control and the receiver of reports in the
// ``TransferCall``, counts bytes with a ``TransferMeter``, and counts attempts with ``TransferRetries``.

// A retry policy contains a backoff.
@_exported public import ErrandBackoff
