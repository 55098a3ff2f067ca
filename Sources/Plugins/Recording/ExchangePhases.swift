import Errand

/// The consecutive phases of an exchange. A phase is `nil` if it didn't happen or isn't known.
public struct ExchangePhases: Sendable, Hashable {
    /// The time spent waiting for a connection.
    public var blocked: Duration?
    /// The time to look up the host's name.
    public var nameLookup: Duration?
    /// The time to open the connection, without TLS.
    public var connect: Duration?
    /// The time to secure the connection.
    public var secure: Duration?
    /// The time to send the request and its body.
    public var send: Duration?
    /// The time until the first byte of the response. Includes sending the request if ``send`` isn't known.
    public var wait: Duration
    /// The time to receive the response.
    public var receive: Duration

    /// The sum of all phases.
    public var total: Duration {
        [blocked, nameLookup, connect, secure, send, wait, receive].reduce(.zero) { $0 + ($1 ?? .zero) }
    }

    /// Creates phases from the transport's timings.
    ///
    /// - Parameter total: the total time, if the timings lack it.
    init(_ timings: TransferTimings, total: Duration) {
        var last = Duration.zero
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

    /// Creates phases from the recorder's own clock.
    init(timeToHead: Duration?, duration: Duration) {
        wait = max(.zero, timeToHead ?? duration)
        receive = max(.zero, duration - wait)
    }
}

extension RecordedExchange {
    /// The phases as measured by the transport, otherwise by the times of the recorder's events.
    public var phases: ExchangePhases {
        if let timings, let total = timings.total { return ExchangePhases(timings, total: total) }
        return ExchangePhases(timeToHead: timeToHead, duration: duration)
    }
}
