import ErrandDigests
import ErrandEssentials

/// The stored properties of an entry; its value stays on the disk.
struct StoredEntry: Sendable, Hashable {
    /// Where the content of a record is in the log.
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
    /// Whose request it is; nil if the agent couldn't tell when it was enqueued.
    var user: UserStamp?
    /// The entries to be sent before, which are all older.
    var dependencies: [UInt64] = []
    /// Those of them whose records are damaged. One counts as sent if the log says so further on.
    var lostDependencies: [UInt64] = []
    /// Whether one of them was dropped or removed.
    var hasDroppedDependency = false
    /// Whether one of them was not sent and is gone.
    var isOrphaned: Bool { hasDroppedDependency || !lostDependencies.isEmpty }
    /// Whether a server may have received it; known of replaceable entries only.
    var isBegun = false
    var extent = Extent(offset: 0, length: 0)

    /// The content of a record: this and the value.
    func payload(_ value: Data) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(96 + name.utf8.count + lane.utf8.count + value.count)
        let dependencies = dependencies + lostDependencies
        let user = user.flatMap { try? JSONEncoder().encode($0) }
        bytes.append((hasDroppedDependency ? 1 : 0) | (isBegun ? 2 : 0) | (user == nil ? 0 : 4))
        withUnsafeBytes(of: key.uuid) { bytes += $0 }
        OutboxFormat.add(enqueued.timeIntervalSince1970.bitPattern, to: &bytes)
        OutboxFormat.add((expiry?.timeIntervalSince1970 ?? .infinity).bitPattern, to: &bytes)
        Self.add(name, to: &bytes)
        Self.add(lane, to: &bytes)
        Self.add(replacementKey ?? "", to: &bytes)
        bytes.append(replacementKey == nil ? 0 : 1)
        OutboxFormat.add(UInt64(dependencies.count), to: &bytes)
        for dependency in dependencies { OutboxFormat.add(dependency, to: &bytes) }
        if let user { Self.add(String(decoding: user, as: UTF8.self), to: &bytes) }
        OutboxFormat.add(UInt64(value.count), to: &bytes)
        return bytes + value
    }

    private static func add(_ text: String, to bytes: inout [UInt8]) {
        OutboxFormat.add(UInt64(text.utf8.count), to: &bytes)
        bytes += text.utf8
    }

    /// Reads the content of a record, whose checksum was right; nil if it makes no sense all the same.
    init?(id: UInt64, payload: UnsafeRawBufferPointer, extent: Extent) {
        var reader = PayloadReader(payload)
        guard let flags = reader.byte(), let key = reader.uuid(), let enqueued = reader.date(),
            let expiry = reader.number().map(Double.init(bitPattern:)), let name = reader.text(),
            let lane = reader.text(), let replacementKey = reader.text(), let hasKey = reader.byte(),
            let dependencies = reader.numbers(), let user = flags & 4 == 0 ? "" : reader.text(),
            let length = reader.number(), length == UInt64(reader.left)
        else { return nil }
        if !user.isEmpty {
            // Without its user it would be anybody's.
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

    /// The bytes of the value, which ends the content.
    private(set) var valueLength = 0

    /// The value in the content of the record.
    func value(in payload: Data) -> Data { Data(payload.suffix(valueLength)) }

    /// With the place of a record that was written.
    func placed(at offset: Int64, _ length: Int, valueLength: Int) -> StoredEntry {
        var copy = self
        copy.extent = Extent(offset: offset, length: length)
        copy.valueLength = valueLength
        return copy
    }
}

/// Reads numbers and texts, and validates every length.
private struct PayloadReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var left: Int { bytes.count - offset }

    mutating func byte() -> UInt8? {
        guard left > 0 else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func number() -> UInt64? {
        guard left >= 8 else { return nil }
        defer { offset += 8 }
        return OutboxFormat.number(bytes, offset)
    }

    mutating func uuid() -> UUID? {
        guard left >= 16 else { return nil }
        defer { offset += 16 }
        return UUID(uuid: bytes.loadUnaligned(fromByteOffset: offset, as: uuid_t.self))
    }

    mutating func date() -> Date? {
        guard let seconds = number().map(Double.init(bitPattern:)), seconds.isFinite else { return nil }
        return Date(timeIntervalSince1970: seconds)
    }

    mutating func text() -> String? {
        guard let length = number(), length <= UInt64(left) else { return nil }
        defer { offset += Int(length) }
        return String(validating: bytes[offset..<(offset + Int(length))], as: UTF8.self)
    }

    mutating func numbers() -> [UInt64]? {
        guard let count = number(), count <= UInt64(left / 8) else { return nil }
        return (0..<Int(count)).compactMap { _ in number() }
    }
}
