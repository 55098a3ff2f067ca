import ErrandEssentials

/// The total bytes and files of a store, as the usage file records them: bytes, files, whether a change is in progress,
/// and a checksum.
struct DiskUsage: Sendable {
    var bytes: Int64 = 0
    var files: Int64 = 0

    init() {}

    /// Nil if the record is damaged, or if the last change did not finish.
    init?(reading file: borrowing DiskFile?) {
        guard let data = try? file?.read(32, at: 0) else { return nil }
        var reader = ByteReader(data)
        guard let bytes = try? reader.uint64(), let files = try? reader.uint64(), (try? reader.uint64()) == 0,
            (try? reader.uint64()) == Checksum.of(data.prefix(24)), bytes < 1 << 62, files < 1 << 62
        else { return nil }
        self.bytes = Int64(bytes)
        self.files = Int64(files)
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
