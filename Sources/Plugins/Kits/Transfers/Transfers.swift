// Start here: a plugin starts a ``TransferHandle``; its filter finds the control and the reader of the events in the
// ``TransferCall``, counts bytes with a ``TransferMeter``, and attempts with ``TransferRetries``.
