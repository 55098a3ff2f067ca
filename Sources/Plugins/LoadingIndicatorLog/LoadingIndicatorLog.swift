// Start here: give an agent the accessories ``LoadingIndicator`` and ``RequestLog``.
//
// Indicator/  the indicator: its state, its rules of time, views and terminals that show it
// Log/        the log: records, levels, and the sinks that write them
// Events/     an accessory made of a closure

// Who logs masks other bodies as well.
@_exported public import ErrandRedaction
