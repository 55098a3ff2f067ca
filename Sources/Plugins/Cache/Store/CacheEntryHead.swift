public import Errand
public import ErrandEssentials
import ErrandSupport

/// The metadata of an entry. A store saves ``encoded()`` and restores it with ``init(encoded:)``.
///
/// It contains no secrets: partitions are keyed hashes, and sensitive headers such as `Set-Cookie` are left out.
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

    // An array of one: a single reference that copies when it is changed, so that frames of async functions stay small.
    private var fields: [Fields]

    var kind: Kind {
        get { fields[0].kind }
        set { fields[0].kind = newValue }
    }
    /// The URL of the request, without a fragment.
    public var url: String { fields[0].url }
    /// The URL of the response, after redirects. Text, because almost every response has the URL of its request, which
    /// is parsed already.
    var responseURL: String { fields[0].responseURL }
    var status: Int { fields[0].status }
    var headers: HTTPHeaders {
        get { fields[0].headers }
        set { fields[0].headers = newValue }
    }
    var version: String? { fields[0].version }
    /// When the response was received.
    public var received: Date { fields[0].received }
    /// When the response becomes stale.
    public var expires: Date { fields[0].expires }
    /// The request's tags.
    public var tags: [String] { fields[0].tags }
    /// A keyed hash of the partition.
    public var partition: String? { fields[0].partition }
    var timed: TimedRules.Attributes {
        get { fields[0].timed }
        set { fields[0].timed = newValue }
    }
    var fresh: HTTPFreshness { fields[0].fresh }
    /// For an index: the lists of header names that distinguish the variants of a URL, the last used first.
    var variants: [[String]] {
        get { fields[0].variants }
        set { fields[0].variants = newValue }
    }
    /// For an index or a record: the generation of the entries that it leads to.
    var serial: UInt64 {
        get { fields[0].serial }
        set { fields[0].serial = newValue }
    }
    /// The serial number of the index or record that led to the entry when it was stored; 0 without one.
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

    /// Takes over the freshness of the response that stored or validated the entry.
    mutating func update(_ fresh: HTTPFreshness, _ received: Date) {
        fields[0].fresh = fresh
        fields[0].received = received
        fields[0].expires = received + Double(fresh.lifetime - fresh.initialAge)
    }

    /// Changes fields that are read-only to those who write a store.
    mutating func change(_ change: (inout Fields) -> Void) { change(&fields[0]) }

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
