#if os(Linux) || os(Android)
import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// The offers of HTTP/3 in a file: a line for each, with the origin, the host, the port and the time at which it
/// expires in seconds since 1970. A line that is none is left out.
struct AlternativeFile: Sendable {
    let path: String
    private static let limit = 1 << 20

    init(_ url: URL) { path = url.path }

    /// The offers of the file that have not expired; none where there is no file, or one that cannot be read. Blocks.
    func read(at now: UInt64, date: Date) -> [AlternativeTable.Offer] {
        guard let file = try? SystemFile(path, [.read, .onlyRegular]), let data = try? file.read(Self.limit, at: 0)
        else { return [] }
        return data.split(separator: UInt8(ascii: "\n")).prefix(AlternativeTable.maximumOrigins).compactMap {
            Self.offer(String(decoding: $0, as: UTF8.self), now, date)
        }
    }

    /// Writes the offers in place of what the file contains. Blocks. A failure is left for the next time: the offers
    /// are in memory, and servers repeat them.
    func write(_ offers: [AlternativeTable.Offer], at now: UInt64, date: Date) {
        let start = Int64(date.timeIntervalSince1970)
        let lines = offers.map { offer in
            let seconds = Duration.nanoseconds(Int64(clamping: offer.expires - min(offer.expires, now))).components
                .seconds
            return "\(offer.origin) \(offer.host) \(offer.port) \(start + seconds)\n"
        }
        try? SystemFile.replace(path, with: Data(lines.sorted().joined().utf8))
    }

    private static func offer(_ line: String, _ now: UInt64, _ date: Date) -> AlternativeTable.Offer? {
        let fields = line.split(separator: " ").map(String.init)
        let start = Int64(date.timeIntervalSince1970)
        guard fields.count == 4, fields[0].hasPrefix("https://"), let host = HostName.normalized(fields[1]),
            let port = ASCII.digits(fields[2]), (1...65_535).contains(port), let end = ASCII.digits(fields[3]),
            end > start
        else { return nil }
        // A clock that was wrong does not make an offer older than the server allows at most.
        let age = Nanoseconds.of(.seconds(min(end - start, Int64(AlternativeTable.longestAge))))
        return AlternativeTable.Offer(
            origin: fields[0], host: host, port: Int(port), expires: Nanoseconds.sum(now, age))
    }
}
#endif
