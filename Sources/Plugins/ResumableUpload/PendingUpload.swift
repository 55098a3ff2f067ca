import Errand
public import ErrandEssentials
import ErrandSupport
public import ErrandTransfers

/// An unfinished upload, as recorded on disk. To resume it, send the same request again.
///
/// ```swift
/// for upload in try ResumableUploadFilter.pendingUploads(in: folder) where !upload.isActive {
///     print(upload.name ?? upload.url, upload.acknowledged, upload.total)
///     try upload.remove()
/// }
/// ```
public struct PendingUpload: Sendable, Identifiable {
    /// An ID for the request and file. It's the same for each start of the upload.
    public let id: String
    /// The request's URL for display, with masked query values.
    public let url: String
    /// The file's name. Nil if the body isn't a file.
    public let name: String?
    /// The number of bytes that the server had when last asked.
    public let acknowledged: Int64
    /// The body's length in bytes.
    public let total: Int64
    /// When the server discards the upload, or the first of its segments. Nil if the server doesn't say.
    public let expiry: Date?
    /// Whether an upload in any process is using the record.
    public let isActive: Bool
    let directory: String

    /// Deletes the record. The server keeps the uploaded bytes until they expire. Throws `TransferError.Code.busy`
    /// while an upload uses the record.
    public func remove() throws(TransferError) { try UploadRecordFile(id, in: directory).remove() }
}

extension ResumableUploadFilter {
    /// Returns the unfinished uploads recorded in a directory, in no particular order. Skips damaged records. Blocks
    /// while it reads a few KB for each upload. Throws `TransferError` if the directory can't be read.
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
