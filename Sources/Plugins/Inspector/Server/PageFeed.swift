import ErrandEssentials

/// The events for an open page. It keeps only the IDs of changed activities. Therefore, a slow page costs little
/// memory, and receives only the newest state of each activity.
struct PageFeed {
    private var pending: [UInt64] = []
    private var first = 0
    private var isPending: Set<UInt64> = []
    private var missed = 0
    private var toolsVersion = -1
    private var clears: Int
    private let service: PageService

    private static let maximumRows = 200
    /// The size in bytes up to which bodies and messages are searched for secrets. Larger bodies are skipped, because
    /// rows don't show bodies.
    private static let listedBodyBytes = 1 << 20

    init(_ service: PageService) {
        self.service = service
        clears = service.store.clears
        add(service.store.all.map(\.id))
    }

    var greeting: [UInt8] {
        var text = JSONText()
        text.object { text in
            text.add("limit", service.store.limits.activities)
            text.add("start", service.secrets.start)
            text.add("program", ProcessInfo.processInfo.processName)
            text.add("dropped", service.store.dropped)
        }
        return Self.event("hello", text.bytes)
    }

    mutating func add(_ changed: [UInt64]) {
        for id in changed where isPending.insert(id).inserted { pending.append(id) }
        if pending.count - first > 2 * service.store.limits.activities + 1000 { forgetDropped() }
    }

    var hasMore: Bool {
        first < pending.count || toolsVersion != service.tools.version || clears != service.store.clears
    }

    private mutating func forgetDropped() {
        let kept = pending[first...].filter { service.store.record($0) != nil }
        missed += pending.count - first - kept.count
        (pending, first, isPending) = (kept, 0, Set(kept))
    }

    mutating func next() -> [UInt8] {
        var bytes: [UInt8] = []
        let clears = service.store.clears
        if clears != self.clears {
            self.clears = clears
            bytes += Self.event("clear", Array("{}".utf8))
        }
        let version = service.tools.version
        if version != toolsVersion {
            toolsVersion = version
            if let data = try? JSONEncoder().encode(service.tools.current) {
                bytes += Self.event("tools", [UInt8](data))
            }
        }
        return bytes + rows()
    }

    private mutating func rows() -> [UInt8] {
        let end = min(pending.count, first + Self.maximumRows)
        if first == end { return [] }
        var records: [ActivityRecord] = []
        for id in pending[first..<end] {
            isPending.remove(id)
            if let record = service.store.record(id) { records.append(record) } else { missed += 1 }
        }
        first = end
        if first == pending.count || first > 10_000 {
            pending.removeFirst(first)
            first = 0
        }
        var text = JSONText()
        text.object { text in
            text.add("now", service.store.now)
            text.add("dropped", service.store.dropped)
            text.add("missed", missed)
            text.array("rows", of: records) { text, record in
                text.row(MaskedActivity(record, service.store.redaction, bodies: .upTo(Self.listedBodyBytes)))
            }
        }
        return Self.event("rows", text.bytes)
    }

    private static func event(_ name: String, _ data: [UInt8]) -> [UInt8] {
        Array("event: \(name)\ndata: ".utf8) + data + [10, 10]
    }
}
