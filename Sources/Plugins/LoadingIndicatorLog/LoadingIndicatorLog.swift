// Start here: give an agent the accessories ``LoadingIndicator`` and ``RequestLog``.
//
// Indicator/  the indicator: its state, timing rules, views and terminal spinner
// Log/        the log: records, levels, and the sinks that write them
// Events/     an accessory made of closures

// Apps that log also need to mask bodies.
@_exported public import ErrandRedaction
