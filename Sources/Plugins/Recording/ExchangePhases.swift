import Errand

/// The phases of an exchange, one after the other; nil for one that did not happen or is not known.
public struct ExchangePhases: Sendable, Hashable {
    /// The time spent waiting for a connection.
    public var blocked: Duration?
    /// The time to look up the host's name.
    public var nameLookup: Duration?
    /// The time to open the connection, without the part for TLS.
    public var connect: Duration?
    /// The time to secure the connection.
    public var secure: Duration?
    /// The time to send the request with its body.
    public var send: Duration?
    /// The time from then to the first byte of the response; includes sending the request where ``send`` is not known.
    public var wait: Duration
    /// The time to receive the response.
    public var receive: Duration

    /// All phases together.
    public var total: Duration {
        [blocked, nameLookup, connect, secure, send, wait, receive].reduce(.zero) { $0 + ($1 ?? .zero) }
    }

    /// The phases that the transport measured.
    ///
    /// - Parameter total: the whole time, where the timings do not have it.
    init(_ timings: TransferTimings, total: Duration) {
        var last = Duration.zero
        /// The time since the phase before.
        func phase(_ end: Duration?) -> Duration? {
            guard let end else { return nil }
            defer { last = max(last, end) }
            return max(.zero, end - last)
        }
        blocked = phase(timings.queued)
        nameLookup = phase(timings.nameLookup)
        connect = phase(timings.connected)
        secure = phase(timings.secured)
        send = phase(timings.requestSent)
        wait = phase(timings.firstByte ?? total) ?? .zero
        receive = phase(total) ?? .zero
    }

    /// The phases by the recorder's own clock.
    init(timeToHead: Duration?, duration: Duration) {
        wait = max(.zero, timeToHead ?? duration)
        receive = max(.zero, duration - wait)
    }
}

extension RecordedExchange {
    /// The phases: as the transport measured them, else by the times at which the recorder received its events.
    public var phases: ExchangePhases {
        if let timings, let total = timings.total { return ExchangePhases(timings, total: total) }
        return ExchangePhases(timeToHead: timeToHead, duration: duration)
    }
}
