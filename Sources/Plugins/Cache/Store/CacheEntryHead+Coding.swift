import Errand
public import ErrandEssentials

extension CacheEntryHead {
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
