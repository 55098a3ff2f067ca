public import Errand
public import ErrandEssentials
import ErrandSupport

/// A stored response: a head with metadata and a body.
public struct CacheEntry: Sendable {
    /// The metadata, a few hundred bytes.
    public var head: CacheEntryHead
    /// The body, in memory or as a stream that can be read once.
    public var body: HTTPBody

    /// Creates an entry.
    public init(head: CacheEntryHead, body: HTTPBody) {
        self.head = head
        self.body = body
    }
}

/// The metadata of an entry. Save it with ``encoded()`` and restore it with ``init(encoded:)``.
///
/// The metadata doesn't contain secrets. Only a MAC of the partition is stored, and sensitive headers such as
/// `Set-Cookie` are left out.
public struct CacheEntryHead: Sendable, Hashable {
    enum Kind: UInt8 { case timed = 1, http = 2, index = 3 }

    struct Fields: Sendable, Hashable {
        var kind: Kind
        let url: String
        let responseURL: String
        let status: Int
        let version: String?
        var headers: HTTPHeaders
        var received: Date
        var expires: Date
        var tags: [String]
        var partition: String?
        var timed = TimedRules.Attributes(version: 0)
        var fresh = HTTPFreshness()
        var variants: [[String]] = []
        var serial: UInt64 = 0
        var generation: UInt64 = 0
    }

    // An array of one element, a single reference that copies on write, keeps async frames small.
    private var fields: [Fields]

    var kind: Kind {
        get { fields[0].kind }
        set { fields[0].kind = newValue }
    }
    /// The URL of the request, without its fragment.
    public var url: String { fields[0].url }
    /// The response's URL after redirects. A string, because it usually equals the request's parsed URL.
    var responseURL: String { fields[0].responseURL }
    var status: Int { fields[0].status }
    var headers: HTTPHeaders {
        get { fields[0].headers }
        set { fields[0].headers = newValue }
    }
    var version: String? { fields[0].version }
    /// When the response was received, by this device's clock.
    public var received: Date { fields[0].received }
    /// When the response becomes stale, by this device's clock.
    public var expires: Date { fields[0].expires }
    /// The tags by which the entry can be removed.
    public var tags: [String] { fields[0].tags }
    /// A MAC of the policy's partition, or nil without a partition.
    public var partition: String? { fields[0].partition }
    var timed: TimedRules.Attributes {
        get { fields[0].timed }
        set { fields[0].timed = newValue }
    }
    var fresh: HTTPFreshness { fields[0].fresh }
    /// The header names that distinguish an index's variants, most recently stored first.
    var variants: [[String]] {
        get { fields[0].variants }
        set { fields[0].variants = newValue }
    }
    /// The serial number of an index or record. Valid entries have this number as their `generation`.
    var serial: UInt64 {
        get { fields[0].serial }
        set { fields[0].serial = newValue }
    }
    /// The serial number of the entry's index or record when the entry was stored, or 0.
    var generation: UInt64 {
        get { fields[0].generation }
        set { fields[0].generation = newValue }
    }

    init(
        _ kind: Kind, url: String, response: HTTPResponse, headers: HTTPHeaders, received: Date, expires: Date,
        tags: [String], partition: String?
    ) {
        var fields = Fields(
            kind: kind, url: url, responseURL: response.url.absoluteString, status: response.status,
            version: response.version, headers: headers, received: received, expires: expires, tags: tags,
            partition: partition)
        fields.timed.partition = partition
        self.init(fields)
    }

    init(_ fields: Fields) { self.fields = [fields] }

    mutating func update(_ fresh: HTTPFreshness, _ received: Date) {
        fields[0].fresh = fresh
        fields[0].received = received
        fields[0].expires = received + Double(fresh.lifetime - fresh.initialAge)
    }

    /// Changes fields that are read-only for authors of stores.
    mutating func change(_ change: (inout Fields) -> Void) { change(&fields[0]) }

    /// Creates the head of a timed entry for a GET, for tests of stores.
    public init(
        url: URL, headers: HTTPHeaders = [:], received: Date, expires: Date, tags: [String] = [],
        partition: String? = nil
    ) {
        self.init(
            .timed, url: CacheKeyBuilder.url(url), response: HTTPResponse(url: url, status: 200),
            headers: HTTPCacheHeaders.storable(headers), received: received, expires: expires, tags: tags,
            partition: partition)
    }

    var byteCount: Int64 {
        // The estimated overhead of an allocation. A text of more than 15 bytes has its own allocation.
        let block = 32
        var count = 1024 + 2 * (url.utf8.count + block) + (partition == nil ? 0 : 64 + block)
        for field in headers { count += field.name.rawName.utf8.count + field.value.utf8.count + 64 + 2 * block }
        for tag in tags { count += tag.utf8.count + 16 + block }
        for names in variants { count += names.reduce(block) { $0 + $1.utf8.count + 16 + block } }
        return Int64(count)
    }

    /// Returns the stored response, or nil if the URL is invalid, because the store is damaged.
    func response(
        to request: HTTPRequest, _ headers: HTTPHeaders, _ body: HTTPBody, source: ResponseSource
    ) -> HTTPResponse? {
        if request.urlText.hasSameBytes(as: responseURL) {
            return HTTPResponse(
                to: request, status: status, headers: headers, body: body, version: version, source: source)
        }
        guard let url = URL(string: responseURL, encodingInvalidCharacters: false) else { return nil }
        return HTTPResponse(url: url, status: status, headers: headers, body: body, version: version, source: source)
    }
}

extension CacheEntryHead {
    /// Encodes the head in a versioned format.
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

    /// Decodes the result of ``encoded()``. Fails for other data and other versions of the format.
    public init?(encoded data: Data) {
        self.init(encoded: Array(data))
    }

    init?(encoded bytes: [UInt8]) {
        guard let head = try? CacheEntryHead(reading: bytes) else { return nil }
        self = head
    }

    private init(reading bytes: [UInt8]) throws(ByteReader.Fault) {
        var reader = ByteReader(bytes)
        guard try reader.byte() == Self.format, let kind = Kind(rawValue: try reader.byte()) else {
            throw ByteReader.Fault()
        }
        let url = try reader.string()
        let finalURL = try reader.string()
        if url.isEmpty, finalURL.isEmpty { throw ByteReader.Fault() }
        var fields = Fields(
            kind: kind, url: url, responseURL: finalURL.isEmpty ? url : finalURL, status: Int(try reader.uint32()),
            version: try reader.optionalString(), headers: try Self.headers(&reader), received: try reader.date(),
            expires: try reader.date(), tags: try reader.strings(), partition: try reader.optionalString())
        fields.timed.version = Int(truncatingIfNeeded: Int64(bitPattern: try reader.uint64()))
        fields.timed.appVersion = try reader.optionalString()
        fields.timed.partition = fields.partition
        fields.fresh = try HTTPFreshness(reading: &reader)
        for _ in 0..<(try reader.count()) { fields.variants.append(try reader.strings()) }
        fields.serial = try reader.uint64()
        fields.generation = try reader.uint64()
        guard reader.isAtEnd else { throw ByteReader.Fault() }
        self.init(fields)
    }

    private static func headers(_ reader: inout ByteReader) throws(ByteReader.Fault) -> HTTPHeaders {
        var fields: [HTTPHeaders.Field] = []
        for _ in 0..<(try reader.count()) {
            var field = HTTPHeaders.Field(HTTPHeaderName(try reader.string()), try reader.string())
            field.isLatin1 = try reader.byte() == 1
            fields.append(field)
        }
        return HTTPHeaders(fields)
    }

    private static let format: UInt8 = 2
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
