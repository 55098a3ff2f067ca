import ErrandEssentials
import ErrandSupport

/// Finds the records in a log, and the damaged parts between them.
struct OutboxScanner {
    enum Item {
        case put(StoredEntry)
        case mark(OutboxFormat.Kind, UInt64)
        case damage(OutboxDamage)
    }

    /// Reads bytes of the file. Returns fewer bytes than requested only at the end of the file.
    typealias Reading = (_ count: Int, _ offset: Int64) throws(OutboxError) -> Data

    private let size: Int64
    private var offset: Int64
    private var piece = Data()
    private var pieceStart: Int64 = 0
    private var nextID: UInt64
    private(set) var validEnd: Int64
    private var damage: (start: Int64, entry: UInt64?)?

    static let pieceSize = 1 << 20

    init(from offset: Int64, size: Int64, nextID: UInt64 = 1) {
        (self.offset, self.size, validEnd, self.nextID) = (offset, size, offset, nextID)
    }

    mutating func next(_ read: Reading) throws(OutboxError) -> Item? {
        while size - offset >= Int64(OutboxFormat.headSize) {
            try load(OutboxFormat.headSize, read)
            let start = Int(offset - pieceStart)
            guard let head = OutboxFormat.head(piece.span, at: start, next: nextID) else {
                skip()
                continue
            }
            let isWhole = size - offset < Int64(head.size) ? false : try isWhole(head, read)
            if !isWhole {
                // This head's length may be wrong, so the next record may begin before the end that the head claims.
                if let item = report(before: offset) { return item }
                damage = (offset, head.id)
                offset += Int64(OutboxFormat.headSize)
                continue
            }
            if let item = report(before: offset) { return item }
            return item(head)
        }
        if offset < size, damage == nil { damage = (offset, nil) }
        offset = size
        // The last record may be an interrupted write. The content that it would have replaced is then still valid, so
        // the entry isn't lost.
        damage?.entry = nil
        return report(before: size)
    }

    private mutating func report(before end: Int64) -> Item? {
        guard let found = damage else { return nil }
        damage = nil
        return .damage(
            OutboxDamage(
                entry: found.entry.map(OutboxEntry.ID.init(rawValue:)), byteCount: Int(clamping: end - found.start)))
    }

    private mutating func item(_ head: OutboxFormat.Head) -> Item {
        let extent = StoredEntry.Extent(offset: offset + Int64(OutboxFormat.headSize), length: head.length)
        defer {
            offset += Int64(head.size)
            validEnd = offset
        }
        if head.kind == .next || head.kind == .put { nextID = max(nextID, head.kind == .put ? head.id + 1 : head.id) }
        if head.kind != .put { return .mark(head.kind, head.id) }
        let start = Int(extent.offset - pieceStart)
        let payload = piece.span.extracting(start..<(start + head.length))
        let entry = StoredEntry(id: head.id, payload: payload, extent: extent)
        return entry.map(Item.put) ?? .damage(OutboxDamage(entry: .init(rawValue: head.id), byteCount: head.size))
    }

    private mutating func isWhole(_ head: OutboxFormat.Head, _ read: Reading) throws(OutboxError) -> Bool {
        if head.length == 0 { return true }
        try load(head.size, read)
        let start = Int(offset - pieceStart) + OutboxFormat.headSize
        let bytes = piece.span
        return OutboxFormat.checksum(bytes.extracting(start..<(start + head.length)))
            == bytes.littleEndian(at: start + head.length)
    }

    private mutating func skip() {
        if damage == nil { damage = (offset, nil) }
        let start = Int(offset - pieceStart)
        let found = piece.span.firstIndex(of: OutboxFormat.mark[0], from: start + 1) ?? piece.count
        offset += Int64(found - start)
    }

    private mutating func load(_ count: Int, _ read: Reading) throws(OutboxError) {
        if offset >= pieceStart, offset + Int64(count) <= pieceStart + Int64(piece.count) { return }
        let wanted = Int(min(Int64(max(count, Self.pieceSize)), size - offset))
        piece = try read(wanted, offset)
        pieceStart = offset
        if piece.count < wanted { throw OutboxError(.fileFailed, "the log shrank while it was being read") }
    }
}
