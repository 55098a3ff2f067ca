#if os(Linux) || os(Android)
import Dispatch
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport
import Synchronization

/// A file with HTTP/3 offers. Each line contains the origin, the host, the port and the expiration in seconds since
/// 1970.
struct AlternativeFile: Sendable {
    let path: String
    private static let limit = 1 << 20

    init(_ url: URL) { path = url.path }

    /// Reads the offers. Returns an empty array if the file can't be read. Blocks the thread.
    func read(at now: UInt64, date: Date) -> [AlternativeTable.Offer] {
        guard let file = try? SystemFile(path, [.read, .onlyRegular]), let data = try? file.read(Self.limit, at: 0)
        else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).prefix(AlternativeTable.maximumOrigins).compactMap {
            Self.offer(String(decoding: $0, as: UTF8.self), now: now, date: date)
        }
    }

    /// Writes the offers. Ignores failures, because servers repeat their offers. Blocks the thread.
    func write(_ offers: [AlternativeTable.Offer], at now: UInt64, date: Date) {
        let start = Int64(date.timeIntervalSince1970)
        let lines = offers.map { offer in
            let seconds = Duration.nanoseconds(Int64(clamping: offer.expires - min(offer.expires, now))).components
                .seconds
            return "\(offer.origin) \(offer.host) \(offer.port) \(start + seconds)\n"
        }
        try? SystemFile.replace(path, with: Data(lines.sorted().joined().utf8))
    }

    private static func offer(_ line: String, now: UInt64, date: Date) -> AlternativeTable.Offer? {
        let fields = line.split(separator: " ").map(String.init)
        let start = Int64(date.timeIntervalSince1970)
        guard fields.count == 4, fields[0].hasPrefix("https://"), let host = HostName.normalized(fields[1]),
            let port = ASCII.digits(fields[2]), (1...65_535).contains(port), let end = ASCII.digits(fields[3]),
            end > start
        else { return nil }
        // A wrong clock must not extend an offer beyond the maximum age.
        let age = Nanoseconds.of(.seconds(min(end - start, Int64(AlternativeTable.longestAge))))
        return AlternativeTable.Offer(
            origin: fields[0], host: host, port: Int(port), expires: Nanoseconds.sum(now, age))
    }
}

/// Writes HTTP/3 offers to the file, one write at a time. Skips a snapshot if a newer one is waiting.
final class AlternativeWriter: Sendable {
    struct Snapshot: Sendable {
        var offers: [AlternativeTable.Offer]
        var now: UInt64
    }

    private static let queue = DispatchQueue(label: "errand.curl.alternatives", qos: .utility)

    private let write: @Sendable (Snapshot) -> Void
    private let waiting = Mutex<Snapshot?>(nil)

    init(write: @escaping @Sendable (Snapshot) -> Void) { self.write = write }

    convenience init(_ file: AlternativeFile) {
        self.init { file.write($0.offers, at: $0.now, date: Date()) }
    }

    func save(_ snapshot: Snapshot) {
        let former = waiting.withLock { waiting in
            defer { waiting = snapshot }
            return waiting
        }
        if former == nil { Self.queue.async { [self] in writeLatest() } }
    }

    private func writeLatest() {
        let latest = waiting.withLock { waiting in
            defer { waiting = nil }
            return waiting
        }
        if let latest { write(latest) }
    }
}
#endif
