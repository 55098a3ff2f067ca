import ErrandEssentials
import ErrandSupport
import ErrandTransfers

extension PartialFile {
    /// Records the length of the file, once it is known.
    func learn(total: Int64?) throws(TransferError) {
        guard let total, plan.total == nil, representation != nil else { return }
        try change { record, plan in
            record.representation?.total = total
            plan.end(at: total)
        }
    }

    /// Throws if the length of the file differs from the count: another program wrote to it.
    func check(size: Int64) throws(TransferError) {
        let length = file.status?.size ?? 0
        if length == size { return }
        throw TransferError(.fileFailed, "\(path) is \(length) bytes long, \(size) bytes were written")
    }

    /// Received bytes, for a digest.
    func read(at offset: Int64, _ count: Int) throws(TransferError) -> Data {
        try TransferError.converting { () throws(SystemFile.Failure) in try file.read(count, at: offset) }
    }

    /// Asks the system to write the bytes to the disk, without waiting for it.
    func beginFlush() { file.beginFlush() }
}
