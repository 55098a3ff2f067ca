import Errand
public import ErrandEssentials
import ErrandSupport
public import ErrandTransfers

/// An unfinished upload that is recorded on disk. Send the same request again to resume it.
///
/// ```swift
/// for upload in try ResumableUploadFilter.pendingUploads(in: folder) where !upload.isActive {
///     print(upload.name ?? upload.url, upload.acknowledged, upload.total)
///     try upload.remove()
/// }
/// ```
public struct PendingUpload: Sendable, Identifiable {
    /// An ID for the request and its file. Each start of the same upload has the same ID.
    public let id: String
    /// The request's URL for display. Its query values are masked.
    public let url: String
    /// The name of the file. It's nil if the body isn't a file.
    public let name: String?
    /// The number of bytes that the server had when it was last asked.
    public let acknowledged: Int64
    /// The body's length in bytes.
    public let total: Int64
    /// The time when the server discards the upload, or the first of its segments. It's nil if the server hasn't sent a
    /// time.
    public let expiry: Date?
    /// Whether an upload in any process is using the record.
    public let isActive: Bool
    let directory: String

    /// Deletes the record. The server keeps the uploaded bytes until they expire. If an upload is using the record,
    /// throws `TransferError.Code.busy`.
    public func remove() throws(TransferError) { try UploadRecordFile(id, in: directory).remove() }
}

extension ResumableUploadFilter {
    /// Returns the unfinished uploads that are recorded in a directory, in no particular order. Skips damaged records.
    /// This method blocks while it reads the directory and a few KB per upload. Throws `TransferError` if the directory
    /// can't be read.
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
