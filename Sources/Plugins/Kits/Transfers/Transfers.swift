// Start here: a plugin starts a ``TransferHandle``. Its filter finds the control and the receiver of reports in the
// ``TransferCall``, counts bytes with a ``TransferMeter``, and counts attempts with ``TransferRetries``.
