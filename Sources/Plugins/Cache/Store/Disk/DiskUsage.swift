import ErrandEssentials

/// The total bytes and files of a store, as the usage file records them: bytes, files, whether a change is in progress,
/// and a checksum.
struct DiskUsage: Sendable {
    var bytes: Int64 = 0
    var files: Int64 = 0

    init() {}

    /// Nil if the record is damaged, or if the last change did not finish.
    init?(reading file: borrowing DiskFile?) {
        guard let data = try? file?.read(32, at: 0),
            let usage = data.withUnsafeBytes({ try? DiskUsage(reading: $0) })
        else { return nil }
        self = usage
    }

    private init(reading bytes: UnsafeRawBufferPointer) throws(ByteReader.Fault) {
        var reader = ByteReader(bytes)
        let (bytesInUse, files, change, sum) = (
            try reader.uint64(), try reader.uint64(), try reader.uint64(), try reader.uint64()
        )
        guard change == 0, sum == Checksum.of(UnsafeRawBufferPointer(rebasing: bytes[..<24])),
            bytesInUse < 1 << 62, files < 1 << 62
        else { throw ByteReader.Fault() }
        (self.bytes, self.files) = (Int64(bytesInUse), Int64(files))
    }

    func write(to file: borrowing DiskFile?, isOpen: Bool) throws(DiskFile.Failure) {
        var writer = ByteWriter()
        writer.add(UInt64(clamping: bytes))
        writer.add(UInt64(clamping: files))
        writer.add(UInt64(isOpen ? 1 : 0))
        writer.add(Checksum.of(Data(writer.bytes)))
        try file?.write(Data(writer.bytes), at: 0)
    }
}
