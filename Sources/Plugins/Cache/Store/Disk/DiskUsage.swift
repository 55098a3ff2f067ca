import ErrandEssentials
import ErrandSupport

/// The total bytes and files of a store, as the usage file records them: bytes, files, whether a change is in progress,
/// and a checksum.
struct DiskUsage: Sendable {
    var bytes: Int64 = 0
    var files: Int64 = 0

    init() {}

    /// Nil if the record is damaged, or if the last change did not finish.
    init?(reading file: borrowing DiskFile?) {
        guard let data = try? file?.read(32, at: 0) else { return nil }
        let record = data.span
        let (bytes, files): (UInt64, UInt64) = (record.littleEndian(at: 0), record.littleEndian(at: 8))
        guard record.littleEndian(at: 16, as: UInt64.self) == 0, bytes < 1 << 62, files < 1 << 62,
            Checksum.of(record.extracting(..<24)) == record.littleEndian(at: 24)
        else { return nil }
        (self.bytes, self.files) = (Int64(bytes), Int64(files))
    }

    func write(to file: borrowing DiskFile?, isOpen: Bool) throws(DiskFile.Failure) {
        var writer = ByteWriter()
        writer.add(UInt64(clamping: bytes))
        writer.add(UInt64(clamping: files))
        writer.add(UInt64(isOpen ? 1 : 0))
        writer.add(Checksum.of(writer.bytes.span))
        try file?.write(Data(writer.bytes), at: 0)
    }
}
