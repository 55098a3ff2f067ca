// Start here: a plugin starts a ``TransferHandle``. Its filter finds the control and the receiver of reports in
// ``TransferCall``, counts bytes with ``TransferMeter``, and counts attempts with ``TransferRetries``.

@_exported public import ErrandBackoff
