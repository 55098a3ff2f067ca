import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

protocol HostRecord: AnyObject, Sendable {
    /// Retires the record, so it doesn't accept requests. Returns false without retiring it if a request is running, or
    /// if the record has current data and `isForced` is false.
    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool
}

/// The records of all hosts, one for each name and port.
///
/// Above `capacity` hosts, the table removes records without current data. Above `maximum`, it also removes the least
/// recently used quarter. It keeps hosts with running requests.
final class HostTable<Record: HostRecord>: Sendable {
    private struct Entry {
        let record: Record
        var lastUse: UInt64
    }

    private struct State {
        /// Most requests go to the same host as the last one. `spelling` is the scheme and authority in its URL.
        var last: (spelling: String, host: String, record: Record)?
        var entries: [String: Entry] = [:]
        var uses: UInt64 = 0
        var sweepCount: Int
    }

    private let state: Mutex<State>
    private let (capacity, maximum): (Int, Int)
    private let make: @Sendable (_ host: String, _ now: ContinuousClock.Instant) -> Record

    init(
        capacity: Int = 1_000, maximum: Int = 100_000,
        make: @escaping @Sendable (_ host: String, _ now: ContinuousClock.Instant) -> Record
    ) {
        (self.capacity, self.maximum, self.make) = (capacity, maximum, make)
        state = Mutex(State(sweepCount: min(capacity, maximum)))
    }

    /// If `body` returns nil because the record is retired, calls it again with a new record.
    func use<Result>(
        _ request: HTTPRequest, at now: ContinuousClock.Instant, _ body: (Record) throws -> Result?
    ) rethrows -> Result {
        while true {
            if let result = try body(record(for: request, at: now)) { return result }
        }
    }

    /// The record can be retired at any time.
    func record(for request: HTTPRequest, at now: ContinuousClock.Instant) -> Record {
        let text = request.urlText
        let (record, forgotten) = state.withLock { state -> (Record, [Record]) in
            if let last = state.last, Self.begins(text, with: last.spelling) { return (last.record, []) }
            let host = Self.host(of: request.url)
            state.uses += 1
            if let last = state.last { state.entries[last.host]?.lastUse = state.uses }
            state.uses += 1
            state.entries[host]?.lastUse = state.uses
            var forgotten: [Record] = []
            let record: Record
            if let known = state.entries[host]?.record {
                record = known
            } else {
                if state.entries.count >= state.sweepCount { forgotten = sweep(&state, at: now) }
                record = make(host, now)
                state.entries[host] = Entry(record: record, lastUse: state.uses)
            }
            state.last = (Self.spelling(of: text), host, record)
            return (record, forgotten)
        }
        withExtendedLifetime(forgotten) {}
        return record
    }

    var count: Int { state.withLock { $0.entries.count } }

    private func sweep(_ state: inout State, at now: ContinuousClock.Instant) -> [Record] {
        var forgotten: [Record] = []
        func forget(_ hosts: some Sequence<String>, isForced: Bool) {
            for host in hosts {
                guard let record = state.entries[host]?.record, record.retire(at: now, isForced: isForced) else {
                    continue
                }
                state.entries[host] = nil
                forgotten.append(record)
            }
        }
        forget(Array(state.entries.keys), isForced: false)
        if state.entries.count >= maximum {
            let byUse = state.entries.sorted { $0.value.lastUse < $1.value.lastUse }
            forget(byUse.prefix(max(1, maximum / 4)).map(\.key), isForced: true)
        }
        state.last = nil
        // Sets the number of hosts at which the next sweep happens, so not every new host causes a sweep.
        let count = state.entries.count
        state.sweepCount = min(count + max(count, capacity), max(maximum, count + max(1, maximum / 4)))
        return forgotten
    }

    /// Returns a host and port, such as "api.example.com:443".
    private static func host(of url: URL) -> String {
        let origin = URLSyntax.origin(of: url)
        return origin.firstRange(of: "://").map { String(origin[$0.upperBound...]) } ?? origin
    }

    /// Returns a URL's scheme and authority as written, such as "HTTPS://Api.example.com".
    private static func spelling(of text: String) -> String {
        var slashes = 0
        let end = text.utf8.firstIndex { byte in
            if byte == UInt8(ascii: "/") { slashes += 1 }
            return slashes == 3 || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
        }
        return String(text[..<(end ?? text.endIndex)])
    }

    private static func begins(_ text: String, with spelling: String) -> Bool {
        text.withSpan { bytes in
            spelling.withSpan { spelling in
                if !bytes.starts(with: spelling) { return false }
                guard spelling.count < bytes.count else { return true }
                let next = bytes[spelling.count]
                return next == UInt8(ascii: "/") || next == UInt8(ascii: "?") || next == UInt8(ascii: "#")
            }
        }
    }
}
