public import Errand
public import ErrandEssentials

/// An entry: a head that describes the response, and the bytes of its body.
public struct CacheEntry: Sendable {
    /// The metadata; a few hundred bytes.
    public var head: CacheEntryHead
    /// The body: in memory, or a stream that can be read once.
    public var body: HTTPBody

    /// Makes an entry of a head and a body.
    public init(head: CacheEntryHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}

/// The metadata of an entry. A store saves ``encoded()`` and restores it with ``init(encoded:)``.
///
/// It contains no secrets: partitions are keyed hashes, and sensitive headers such as `Set-Cookie` are left out.
public struct CacheEntryHead: Sendable, Hashable {
    enum Kind: UInt8 { case timed = 1, http = 2, index = 3 }

    var kind: Kind
    /// The URL of the request, without a fragment.
    public internal(set) var url: String
    /// The URL of the response, after redirects. Text, because almost every response has the URL of its request, which is
    /// parsed already.
    var responseURL: String
    var status: Int
    var headers: HTTPHeaders
    var version: String?
    /// When the response was received.
    public internal(set) var received: Date
    /// When the response becomes stale.
    public internal(set) var expires: Date
    /// The request's tags.
    public internal(set) var tags: [String]
    /// A keyed hash of the partition.
    public internal(set) var partition: String?
    var timed = TimedRules.Attributes(version: 0)
    var fresh = HTTPFreshness()
    /// For an index: the lists of header names that distinguish the variants of a URL, the last used first.
    var variants: [[String]] = []
    /// For an index or a record: the generation of the entries that it leads to.
    var serial: UInt64 = 0
    /// The serial number of the index or record that led to the entry when it was stored; 0 without one.
    var generation: UInt64 = 0

    init(
        _ kind: Kind, url: String, response: HTTPResponse, headers: HTTPHeaders, received: Date, expires: Date,
        tags: [String], partition: String?
    ) {
        self.kind = kind
        self.url = url
        responseURL = response.url.absoluteString
        status = response.status
        self.headers = headers
        version = response.version
        self.received = received
        self.expires = expires
        self.tags = tags
        self.partition = partition
        timed.partition = partition
    }

    /// Takes over the freshness of the response that stored or validated the entry.
    mutating func update(_ fresh: HTTPFreshness, _ received: Date) {
        self.fresh = fresh
        self.received = received
        expires = received + Double(fresh.lifetime - fresh.initialAge)
    }

    /// Makes the head of a timed entry of a GET, to test a store with.
    public init(
        url: URL, headers: HTTPHeaders = [:], received: Date, expires: Date, tags: [String] = [],
        partition: String? = nil
    ) {
        self.init(
            .timed, url: CacheKeyBuilder.url(url), response: HTTPResponse(url: url, status: 200),
            headers: HTTPCacheHeaders.storable(headers), received: received, expires: expires, tags: tags,
            partition: partition)
    }

    /// The bytes to save, in a versioned format.
    public func encoded() -> Data {
        var writer = ByteWriter()
        writer.add(Self.format)
        writer.add(kind.rawValue)
        writer.add(url)
        writer.add(responseURL == url ? "" : responseURL)
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

    /// Decodes what ``encoded()`` returned; nil for anything else, including the format of another version.
    public init?(encoded data: Data) {
        guard let head = data.withUnsafeBytes({ CacheEntryHead(encoded: $0) }) else { return nil }
        self = head
    }

    init?(encoded bytes: UnsafeRawBufferPointer) {
        guard let head = try? CacheEntryHead(reading: bytes) else { return nil }
        self = head
    }

    private init(reading bytes: UnsafeRawBufferPointer) throws(ByteReader.Fault) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.format, let kind = Kind(rawValue: try reader.byte()) else {
            throw ByteReader.Fault()
        }
        self.kind = kind
        url = try reader.string()
        let finalURL = try reader.string()
        responseURL = finalURL.isEmpty ? url : finalURL
        if responseURL.isEmpty { throw ByteReader.Fault() }
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

    /// The approximate memory that the head uses.
    var byteCount: Int64 {
        // Each text of more than 15 bytes has an allocation of its own; a URL has an object in addition to its text.
        let block = 32
        var count = 1024 + 2 * (url.utf8.count + block) + (partition == nil ? 0 : 64 + block)
        for field in headers { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 + 2 * block }
        for tag in tags { count += tag.utf8.count + 16 + block }
        for names in variants { count += names.reduce(block) { $0 + $1.utf8.count + 16 + block } }
        return Int64(count)
    }

    /// The stored response to a request; nil if its own URL is none, which only a damaged store returns.
    func response(to request: HTTPRequest, _ body: HTTPBody, source: ResponseSource) -> HTTPResponse? {
        if request.urlText.hasSameBytes(as: responseURL) {
            return HTTPResponse(
                to: request, status: status, headers: headers, body: body, version: version, source: source)
        }
        guard let url = URL(string: responseURL) else { return nil }
        return HTTPResponse(url: url, status: status, headers: headers, body: body, version: version, source: source)
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
