import ErrandDigests
import ErrandEssentials
import ErrandSupport

struct StoredEntry: Sendable, Hashable {
    struct Extent: Sendable, Hashable {
        var offset: Int64
        var length: Int
    }

    var id: UInt64
    var name: String
    var lane: String
    var key: UUID
    var enqueued: Date
    var expiry: Date?
    var replacementKey: String?
    /// The user who enqueued the entry. It's nil if the agent didn't know the user.
    var user: UserStamp?
    /// The entries on which this entry depends. All of them are older than this entry.
    var dependencies: [UInt64] = []
    /// Dependencies whose records are damaged. A later record may show that they were sent.
    var lostDependencies: [UInt64] = []
    var hasDroppedDependency = false
    var isOrphaned: Bool { hasDroppedDependency || !lostDependencies.isEmpty }
    /// Whether a server may have received the entry. Only for replaceable entries.
    var isBegun = false
    var extent = Extent(offset: 0, length: 0)

    func payload(_ value: Data) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(96 + name.utf8.count + lane.utf8.count + value.count)
        let dependencies = dependencies + lostDependencies
        let user = user.flatMap { try? JSONEncoder().encode($0) }
        bytes.append((hasDroppedDependency ? 1 : 0) | (isBegun ? 2 : 0) | (user == nil ? 0 : 4))
        bytes += key.bytes
        bytes.append(littleEndian: enqueued.timeIntervalSince1970.bitPattern)
        bytes.append(littleEndian: (expiry?.timeIntervalSince1970 ?? .infinity).bitPattern)
        Self.add(name, to: &bytes)
        Self.add(lane, to: &bytes)
        Self.add(replacementKey ?? "", to: &bytes)
        bytes.append(replacementKey == nil ? 0 : 1)
        bytes.append(littleEndian: UInt64(dependencies.count))
        for dependency in dependencies { bytes.append(littleEndian: dependency) }
        if let user { Self.add(String(decoding: user, as: UTF8.self), to: &bytes) }
        bytes.append(littleEndian: UInt64(value.count))
        return bytes + value
    }

    private static func add(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(littleEndian: UInt64(text.utf8.count))
        bytes += text.utf8
    }

    /// Reads an entry from a payload with a valid checksum. Returns nil if the content is invalid.
    init?(id: UInt64, payload: Span<UInt8>, extent: Extent) {
        var reader = PayloadReader()
        guard let flags = reader.byte(of: payload), let key = reader.uuid(of: payload),
            let enqueued = reader.date(of: payload),
            let expiry = reader.number(of: payload).map(Double.init(bitPattern:)),
            let name = reader.text(of: payload), let lane = reader.text(of: payload),
            let replacementKey = reader.text(of: payload), let hasKey = reader.byte(of: payload),
            let dependencies = reader.numbers(of: payload),
            let user = flags & 4 == 0 ? "" : reader.text(of: payload),
            let length = reader.number(of: payload), length == UInt64(payload.count - reader.offset)
        else { return nil }
        if !user.isEmpty {
            // An entry without its user could be sent for any user, so it's rejected.
            guard let stamp = try? JSONDecoder().decode(UserStamp.self, from: Data(user.utf8)) else { return nil }
            self.user = stamp
        }
        (self.id, self.name, self.lane, self.key, self.enqueued) = (id, name, lane, key, enqueued)
        self.expiry = expiry.isFinite ? Date(timeIntervalSince1970: expiry) : nil
        self.replacementKey = hasKey == 0 ? nil : replacementKey
        (self.dependencies, self.extent) = (dependencies, extent)
        (hasDroppedDependency, isBegun) = (flags & 1 != 0, flags & 2 != 0)
        valueLength = Int(length)
    }

    init(
        id: UInt64, name: String, lane: String, key: UUID, enqueued: Date, expiry: Date?, replacementKey: String?,
        user: UserStamp? = nil, dependencies: [UInt64]
    ) {
        (self.id, self.name, self.lane, self.key, self.enqueued) = (id, name, lane, key, enqueued)
        (self.expiry, self.replacementKey, self.dependencies) = (expiry, replacementKey, dependencies)
        self.user = user
    }

    private(set) var valueLength = 0

    func value(in payload: Data) -> Data { Data(payload.suffix(valueLength)) }

    func placed(at offset: Int64, _ length: Int, valueLength: Int) -> StoredEntry {
        var copy = self
        copy.extent = Extent(offset: offset, length: length)
        copy.valueLength = valueLength
        return copy
    }
}

private struct PayloadReader {
    private(set) var offset = 0

    private mutating func take(_ count: Int, of bytes: Span<UInt8>) -> Int? {
        guard bytes.count - offset >= count else { return nil }
        defer { offset += count }
        return offset
    }

    mutating func byte(of bytes: Span<UInt8>) -> UInt8? {
        guard let start = take(1, of: bytes) else { return nil }
        return bytes[start]
    }

    mutating func number(of bytes: Span<UInt8>) -> UInt64? {
        guard let start = take(8, of: bytes) else { return nil }
        return bytes.littleEndian(at: start)
    }

    mutating func uuid(of bytes: Span<UInt8>) -> UUID? {
        guard let start = take(16, of: bytes) else { return nil }
        return UUID(bytes.extracting(start..<(start + 16)))
    }

    mutating func date(of bytes: Span<UInt8>) -> Date? {
        guard let seconds = number(of: bytes).map(Double.init(bitPattern:)), seconds.isFinite else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    mutating func text(of bytes: Span<UInt8>) -> String? {
        guard let length = number(of: bytes), length <= UInt64(bytes.count - offset),
            let start = take(Int(length), of: bytes)
        else { return nil }
        return String(validating: bytes.extracting(start..<offset))
    }

    mutating func numbers(of bytes: Span<UInt8>) -> [UInt64]? {
        guard let count = number(of: bytes), count <= UInt64((bytes.count - offset) / 8) else { return nil }
        var numbers: [UInt64] = []
        for _ in 0..<count {
            guard let number = number(of: bytes) else { return nil }
            numbers.append(number)
        }
        return numbers
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] {
        let uuid = uuid
        return [
            uuid.0, uuid.1, uuid.2, uuid.3, uuid.4, uuid.5, uuid.6, uuid.7, uuid.8, uuid.9, uuid.10, uuid.11, uuid.12,
            uuid.13, uuid.14, uuid.15,
        ]
    }

    fileprivate init(_ bytes: Span<UInt8>) {
        self.init(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }
}
