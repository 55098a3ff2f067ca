public import Errand

public import ErrandEssentials

/// What is stored under a key: a head that says what it is, and the bytes of a body.
public struct CacheEntry: Sendable {
    /// Small: some hundred bytes.
    public var head: CacheEntryHead
    /// In memory, or a stream that is read once.
    public var body: HTTPBody

    /// Puts the two together.
    public init(head: CacheEntryHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}

/// What is known of an entry without its body. A store saves ``encoded()`` and gets it back with ``init(encoded:)``.
///
/// It holds no secret: partitions are keyed hashes, and headers such as `Set-Cookie` are left out.
public struct CacheEntryHead: Sendable, Hashable {
    enum Kind: UInt8 { case timed = 1, http = 2, index = 3 }

    var kind: Kind
    /// The URL that was asked for, without a fragment.
    public internal(set) var url: String
    /// The URL that answered.
    var answeredBy: URL
    var status: Int
    var headers: HTTPHeaders
    var version: String?
    /// When the answer came, by the calendar.
    public internal(set) var received: Date
    /// When it ceases to be fresh.
    public internal(set) var expires: Date
    /// The request's tags.
    public internal(set) var tags: [String]
    /// A keyed hash of whom it belongs to.
    public internal(set) var partition: String?
    var timed = TimedRules.Facts(version: 0)
    var fresh = HTTPFreshness()
    /// Of an index: the header names by which the variants of a URL are told apart, the last used first.
    var variants: [[String]] = []
    /// Of an index: the number that what it leads to has as its generation.
    var serial: UInt64 = 0
    /// The serial number of the index or the record that led to it when it was stored; 0 without one.
    var generation: UInt64 = 0

    init(
        _ kind: Kind, url: String, response: HTTPResponse, headers: HTTPHeaders, received: Date, expires: Date,
        tags: [String], partition: String?
    ) {
        self.kind = kind
        self.url = url
        answeredBy = response.url
        status = response.status
        self.headers = headers
        version = response.version
        self.received = received
        self.expires = expires
        self.tags = tags
        self.partition = partition
        timed.partition = partition
    }

    /// A head to test a store with: of a timed entry of a GET.
    public init(
        url: URL, headers: HTTPHeaders = [:], received: Date, expires: Date, tags: [String] = [],
        partition: String? = nil
    ) {
        self.init(
            .timed, url: KeyText.url(url), response: HTTPResponse(url: url, status: 200),
            headers: HTTPCacheHeaders.storable(headers), received: received, expires: expires, tags: tags,
            partition: partition)
    }

    /// The bytes to save, in a format that says its version.
    public func encoded() -> Data {
        var writer = ByteWriter()
        writer.add(Self.format)
        writer.add(kind.rawValue)
        writer.add(url)
        writer.add(answeredBy.absoluteString == url ? "" : answeredBy.absoluteString)
        writer.add(UInt32(clamping: status))
        writer.add(version)
        writer.add(UInt32(clamping: headers.count))
        for field in headers {
            writer.add(field.name.rawName)
            writer.add(field.value)
            writer.add(UInt8(field.isLatin1 ? 1 : 0))
        }
        writer.add(received.timeIntervalSince1970.bitPattern)
        writer.add(expires.timeIntervalSince1970.bitPattern)
        writer.add(tags)
        writer.add(partition)
        writer.add(UInt64(bitPattern: Int64(timed.version)))
        writer.add(timed.appVersion)
        fresh.write(to: &writer)
        writer.add(UInt32(clamping: variants.count))
        variants.forEach { writer.add($0) }
        writer.add(serial)
        writer.add(generation)
        return Data(writer.bytes)
    }

    /// Reads what ``encoded()`` wrote; nil for anything else, also for what a later version wrote.
    public init?(encoded data: Data) {
        guard let head = try? CacheEntryHead(reading: data) else { return nil }
        self = head
    }

    private init(reading data: Data) throws(ByteReader.Fault) {
        var reader = ByteReader(data)
        guard try reader.byte() == Self.format, let kind = Kind(rawValue: try reader.byte()) else {
            throw ByteReader.Fault()
        }
        self.kind = kind
        url = try reader.string()
        let answered = try reader.string()
        guard let answeredBy = URL(string: answered.isEmpty ? url : answered) else { throw ByteReader.Fault() }
        self.answeredBy = answeredBy
        status = Int(try reader.uint32())
        version = try reader.optionalString()
        var fields: [HTTPHeaders.Field] = []
        for _ in 0..<(try reader.count()) {
            var field = HTTPHeaders.Field(HTTPHeaderName(try reader.string()), try reader.string())
            field.isLatin1 = try reader.byte() == 1
            fields.append(field)
        }
        headers = HTTPHeaders(fields)
        received = try reader.date()
        expires = try reader.date()
        tags = try reader.strings()
        partition = try reader.optionalString()
        timed.version = Int(truncatingIfNeeded: Int64(bitPattern: try reader.uint64()))
        timed.appVersion = try reader.optionalString()
        timed.partition = partition
        fresh = try HTTPFreshness(reading: &reader)
        for _ in 0..<(try reader.count()) { variants.append(try reader.strings()) }
        serial = try reader.uint64()
        generation = try reader.uint64()
        guard reader.isAtEnd else { throw ByteReader.Fault() }
    }

    private static let format: UInt8 = 2

    /// About how much memory the head takes.
    var byteCount: Int64 {
        // Each text of more than 15 bytes has a block of its own; a URL has an object beside its text.
        let block = 32
        var count = 1024 + 2 * (url.utf8.count + block) + (partition == nil ? 0 : 64 + block)
        for field in headers { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 + 2 * block }
        for tag in tags { count += tag.utf8.count + 16 + block }
        for names in variants { count += names.reduce(block) { $0 + $1.utf8.count + 16 + block } }
        return Int64(count)
    }

    /// The answer that was stored.
    func response(_ body: HTTPBody, source: ResponseSource) -> HTTPResponse {
        HTTPResponse(url: answeredBy, status: status, headers: headers, body: body, version: version, source: source)
    }
}

extension HTTPFreshness {
    func write(to writer: inout ByteWriter) {
        writer.add(UInt64(clamping: lifetime))
        writer.add(UInt64(clamping: initialAge))
        let flags = [isHeuristic, noCache, mustRevalidate, isImmutable]
        writer.add(flags.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << UInt8($1.offset) : 0) })
        writer.add(staleWhileRevalidate.map { UInt64(clamping: $0) } ?? .max)
        writer.add(staleIfError.map { UInt64(clamping: $0) } ?? .max)
    }

    init(reading reader: inout ByteReader) throws(ByteReader.Fault) {
        self.init()
        lifetime = try reader.seconds() ?? 0
        initialAge = try reader.seconds() ?? 0
        let flags = try reader.byte()
        (isHeuristic, noCache) = (flags & 1 != 0, flags & 2 != 0)
        (mustRevalidate, isImmutable) = (flags & 4 != 0, flags & 8 != 0)
        staleWhileRevalidate = try reader.seconds()
        staleIfError = try reader.seconds()
    }
}
