import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTransfers

struct PartialRecord: Codable, Sendable, Equatable {
    var format = Self.format
    /// A digest of the request. The request itself isn't stored, so secrets in its URL aren't written to disk.
    var request: String
    /// The user to whom the bytes on disk belong. It's nil before the first byte. It's also nil in older sidecars,
    /// whose bytes count as anonymous.
    var user: UserStamp?
    var url: String
    var name: String?
    var representation: Representation?
    /// The session in which the record was written. See `SystemSession`. Bytes from an earlier session are valid only
    /// if they were flushed.
    var session: String
    /// The number of the plan. Counters with another number don't belong to this record.
    var plan: UInt32
    var flushed: RangePlan

    static let format = 1
}

/// The format of the sidecar. It has two slots for records, which are written alternately, so one slot is always
/// intact. In addition, it has a counter for each part. Counters change with every chunk.
enum SidecarFormat {
    static let slotSize = RecordSlot.size
    static let counters = 2 * slotSize
    static let counterSize = 16

    private static let magic = Array("ErrandP1".utf8)

    static func slot(_ record: PartialRecord, sequence: UInt64) -> [UInt8]? {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(record)).flatMap { RecordSlot.bytes($0, sequence: sequence, magic: magic) }
    }

    private static func record(_ payload: ArraySlice<UInt8>) -> PartialRecord? {
        let record = try? JSONDecoder().decode(PartialRecord.self, from: Data(payload))
        return record?.format == PartialRecord.format ? record : nil
    }

    static func counter(_ done: Int64, part index: Int, plan: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append(littleEndian: plan)
        bytes.append(littleEndian: check(done: done, index: index, plan: plan))
        bytes.append(littleEndian: done)
        return bytes
    }

    /// Returns the check value of a counter. It detects damage, but not deliberate changes.
    private static func check(done: Int64, index: Int, plan: UInt32) -> UInt32 {
        var mixed = UInt64(bitPattern: done) ^ UInt64(plan) << 24 ^ UInt64(index + 1) << 56
        mixed = (mixed ^ mixed >> 33) &* 0xff51_afd7_ed55_8ccd
        return UInt32(truncatingIfNeeded: (mixed ^ mixed >> 29) >> 7)
    }

    /// Reads the counters of all parts. An element is nil if the counter is damaged or belongs to another plan.
    static func counters(_ bytes: ArraySlice<UInt8>, plan: UInt32, count: Int) -> [Int64?] {
        (0..<count).map { index in
            let start = bytes.startIndex + index * counterSize
            guard start + counterSize <= bytes.endIndex else { return nil }
            let slot = bytes[start..<(start + counterSize)]
            let done = slot.span.littleEndian(at: 8, as: Int64.self)
            return Array(slot) == counter(done, part: index, plan: plan) ? done : nil
        }
    }

    /// Reads the latest intact record. If the counters belong to this session, their bytes are included.
    static func read(_ bytes: [UInt8], session: String) -> (record: PartialRecord, plan: RangePlan, sequence: UInt64)? {
        guard let newest = RecordSlot.newest(bytes, magic: magic, decode: record) else { return nil }
        let total = newest.record.representation?.total
        var parts = newest.record.flushed.parts
        if newest.record.session == session, !session.isEmpty, bytes.count > counters {
            let done = counters(bytes[counters...], plan: newest.record.plan, count: min(parts.count, RangePlan.limit))
            for (index, count) in done.enumerated() {
                if let count, count > parts[index].done { parts[index].done = count }
            }
        }
        guard let plan = RangePlan(checking: parts, total: total) else { return nil }
        return (newest.record, plan, newest.sequence)
    }
}
