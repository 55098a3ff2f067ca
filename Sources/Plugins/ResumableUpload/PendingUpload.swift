import Errand
public import ErrandEssentials
import ErrandSupport
public import ErrandTransfers

/// An upload that is not finished, as its record says. Sending the same request again resumes it.
///
/// ```swift
/// for upload in try ResumableUploads.pendingUploads(in: folder) where !upload.isActive {
///     print(upload.name ?? upload.url, upload.acknowledged, upload.total)
///     try upload.remove()
/// }
/// ```
public struct PendingUpload: Sendable, Identifiable {
    /// The same for each start of one request with one file.
    public let id: String
    /// The URL of the request, for people: the values of its query are masked.
    public let url: String
    /// The name of the file; nil for another body.
    public let name: String?
    /// Bytes that the server had when it was last asked.
    public let acknowledged: Int64
    /// The length of the body in bytes.
    public let total: Int64
    /// When the server forgets the upload, or the first of its segments; nil where it does not say.
    public let expiry: Date?
    /// Whether an upload, in this process or another, holds the record.
    public let isActive: Bool
    let directory: String

    /// Deletes the record; the server keeps what it has until it forgets it. Throws `TransferError.Code.busy` while an upload
    /// holds the record.
    public func remove() throws(TransferError) { try UploadRecordFile(id, in: directory).remove() }
}

extension ResumableUploads {
    /// The unfinished uploads that have a record in a directory, in no order. Reads a few KB of each; blocks. A record that
    /// is damaged is left out. Throws `TransferError` if the directory cannot be read.
    public static func pendingUploads(in directory: URL) throws(TransferError) -> [PendingUpload] {
        var ids: [String] = []
        try TransferError.converting { () throws(SystemFile.Failure) in
            try SystemFile.list(directory.path) { name in
                if let id = UploadRecordFile.id(of: name) { ids.append(id) }
                return true
            }
        }
        return ids.compactMap { inspect($0, in: directory.path) }
    }

    private static func inspect(_ id: String, in directory: String) -> PendingUpload? {
        guard let file = try? SystemFile(UploadRecordFile.path(id, in: directory), [.read, .refusesLinks]) else {
            return nil
        }
        let isActive = !file.tryLock(shared: true)
        guard let record = UploadRecordFile.read(file)?.record else { return nil }
        return PendingUpload(
            id: id, url: record.url, name: record.name, acknowledged: record.acknowledged, total: record.source.size,
            expiry: record.places.compactMap(\.expiry).min(), isActive: isActive, directory: directory)
    }
}
