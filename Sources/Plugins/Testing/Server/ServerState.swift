/// The events at the server so far, bounded.
struct ServerState: Sendable {
    /// The descriptors of the open connections.
    var open: [Int: Int32] = [:]
    var accepted = 0
    var threads: Set<UInt> = []
    var running = 0
    var isStopped = false
    private(set) var faults: [RequestFault] = []
    private var log = BoundedLog<RecordedRequest>()
    private var loggedBytes = 0
    private var taken = 0

    mutating func record(_ request: RecordedRequest, limit: Int, byteLimit: Int) {
        loggedBytes += request.body.count
        forget(log.add(request, limit: limit))
        while loggedBytes > byteLimit, log.count > 1 { forget(log.drop(1)) }
    }

    mutating func record(_ fault: RequestFault) {
        if faults.count < 1000 { faults.append(fault) }
    }

    private mutating func forget(_ dropped: [RecordedRequest]) {
        for request in dropped { loggedBytes -= request.body.count }
    }

    func requests(limit: Int) -> [RecordedRequest] { log.last(limit) }

    /// The first request that has not been taken and is still in the log.
    mutating func takeNext() -> RecordedRequest? {
        guard let (request, position) = log.next(from: taken) else { return nil }
        taken = position + 1
        return request
    }
}
