import Errand
import ErrandEssentials

/// The bytes of a small entry's file, read at once and decoded in place. The body takes the memory over without a copy.
struct DiskContent: ~Copyable {
    private let memory: UnsafeMutableRawBufferPointer

    /// Nil if the file is shorter.
    init?(_ file: borrowing DiskFile, length: Int) throws(DiskFile.Failure) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 16)
        let result = Result { () throws(DiskFile.Failure) in try file.read(memory) }
        guard case .success(length) = result else {
            memory.deallocate()
            _ = try result.get()
            return nil
        }
        self.memory = memory
    }

    deinit { memory.deallocate() }

    /// From here on bodies are copied: below, a copy costs less than keeping the head in memory.
    private static let ownedLength = 4096

    /// The entry; nil if anything of it is damaged. `open` decrypts.
    consuming func entry(digest: [UInt8], open: ((Data) throws -> Data)?) -> CacheEntry? {
        let bytes = UnsafeRawBufferPointer(memory)
        guard let format = DiskFormat(bytes, digest: digest, fileLength: Int64(bytes.count)),
            let head = head(format, open)
        else { return nil }
        if open == nil, format.bodyLength >= Self.ownedLength,
            let range = format.payload(bytes, at: format.bodyStart, number: 0), range.upperBound + 8 == bytes.count
        {
            guard Int64(range.count) == format.bodyLength else { return nil }
            return CacheEntry(head: head, body: HTTPBody(body(range)))
        }
        return copiedBody(format, open).map { CacheEntry(head: head, body: HTTPBody($0)) }
    }

    private func head(_ format: DiskFormat, _ open: ((Data) throws -> Data)?) -> CacheEntryHead? {
        let slots = UnsafeRawBufferPointer(rebasing: memory[DiskFormat.prefixLength..<format.bodyStart])
        guard let found = format.head(in: slots) else { return nil }
        let bytes = UnsafeRawBufferPointer(rebasing: slots[found.range])
        guard let open else { return CacheEntryHead(encoded: bytes) }
        return (try? open(Data(bytes))).flatMap { CacheEntryHead(encoded: $0) }
    }

    private func copiedBody(_ format: DiskFormat, _ open: ((Data) throws -> Data)?) -> Data? {
        let bytes = UnsafeRawBufferPointer(memory)
        var body = Data()
        body.reserveCapacity(Int(format.bodyLength))
        var (offset, number) = (format.bodyStart, UInt64(0))
        while offset < bytes.count {
            guard let range = format.payload(bytes, at: offset, number: number) else { return nil }
            let part = UnsafeRawBufferPointer(rebasing: bytes[range])
            if let open {
                guard let plain = try? open(Data(part)) else { return nil }
                body.append(plain)
            } else {
                body.append(contentsOf: part)
            }
            (offset, number) = (range.upperBound + 8, number + 1)
        }
        return Int64(body.count) == format.bodyLength ? body : nil
    }

    /// Bytes of the file that keep all of it in memory.
    private consuming func body(_ range: Range<Int>) -> Data {
        let start = memory.baseAddress
        let body = memory[range]
        discard self
        guard let first = UnsafeMutableRawBufferPointer(rebasing: body).baseAddress else { return Data() }
        return Data(bytesNoCopy: first, count: body.count, deallocator: .custom { _, _ in start?.deallocate() })
    }
}
