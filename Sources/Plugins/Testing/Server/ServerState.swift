/// The events at the server so far, bounded.
struct ServerState: Sendable {
    /// The descriptors of the open connections.
    var open: [Int: Int32] = [:]
    var accepted = 0
    var threads: Set<UInt> = []
    var running = 0
    var isStopped = false
    private(set) var faults: [RequestFault] = []
    private var recorded = 0
    private var log: [RecordedRequest] = []
    private var loggedBytes = 0
    private var taken = 0

    mutating func record(_ request: RecordedRequest, limit: Int, byteLimit: Int) {
        recorded += 1
        log.append(request)
        loggedBytes += request.body.count
        // Half of the log is dropped at a time, so that dropping costs nothing on average.
        if log.count - limit >= limit { drop(log.count - limit) }
        while loggedBytes > byteLimit, log.count > 1 { drop(1) }
    }

    mutating func record(_ fault: RequestFault) {
        if faults.count < 1000 { faults.append(fault) }
    }

    private mutating func drop(_ count: Int) {
        loggedBytes -= log[..<count].reduce(0) { $0 + $1.body.count }
        log.removeFirst(count)
    }

    func requests(limit: Int) -> [RecordedRequest] { log.count > limit ? Array(log.suffix(limit)) : log }

    /// The first request that has not been taken and is still in the log.
    mutating func takeNext() -> RecordedRequest? {
        let first = recorded - log.count
        let position = max(taken, first)
        guard position < recorded else { return nil }
        taken = position + 1
        return log[position - first]
    }
}
