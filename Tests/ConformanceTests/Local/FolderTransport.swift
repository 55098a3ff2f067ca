import Errand
import ErrandConformance
import Foundation

/// Serves the files of a folder. It knows few types, and names versions by the folder and the size.
final class FolderTransport: Transport {
    enum Mistake: CaseIterable { case decodesSlashes, keepsEscapes, namesEachResponse, labelsAllAsText }

    private static let origin = "https://local.example/"
    private static let types = ["txt": "text/plain", "pdf": "application/pdf"]

    private let folder: URL
    private let name = UUID().uuidString
    private let mistake: Mistake?

    init(_ resources: [LocalResource], _ mistake: Mistake? = nil) throws {
        self.mistake = mistake
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-folder-\(name)")
        for resource in resources {
            // A file has neither a host nor a query.
            guard resource.url.hasPrefix(Self.origin), !resource.url.contains("?"),
                let file = Self.file(resource.url, in: folder, nil)
            else { continue }
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try resource.body.write(to: file)
        }
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Returns `nil` if no file can have a name of the path.
    private static func file(_ url: String, in folder: URL, _ mistake: Mistake?) -> URL? {
        let path = url.dropFirst(origin.count).prefix { $0 != "?" && $0 != "#" }
        if mistake == .decodesSlashes {
            return folder.appendingPathComponent(path.removingPercentEncoding ?? String(path))
        }
        var file = folder
        for segment in path.split(separator: "/", omittingEmptySubsequences: false) {
            let name = mistake == .keepsEscapes ? String(segment) : segment.removingPercentEncoding
            guard let name, !name.isEmpty, name != ".", name != "..", !name.contains("/"), !name.contains("\0") else {
                return nil
            }
            file.appendPathComponent(name)
        }
        return file
    }

    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let url = request.url.absoluteString
        if !request.body.isNone { _ = try await request.body.open().collect(upTo: 1 << 20) }
        // A folder has no versions by query, so a URL with a query is another resource.
        guard url.hasPrefix(Self.origin), !url.contains("?"), let file = Self.file(url, in: folder, mistake),
            let data = try? Data(contentsOf: file)
        else { return HTTPResponse(to: request, status: 404) }
        guard request.method == .get || request.method == .head else {
            return HTTPResponse(to: request, status: 405, headers: [.allow: "GET, HEAD"])
        }
        let type = Self.types[file.pathExtension.lowercased()] ?? "application/octet-stream"
        let version = mistake == .namesEachResponse ? UUID().uuidString : name
        let headers: HTTPHeaders = [
            .contentType: mistake == .labelsAllAsText ? "text/plain" : type, .contentLength: "\(data.count)",
            .entityTag: "\"\(version)-\(data.count)\"", "X-Request-ID": UUID().uuidString,
        ]
        if request.headers[.ifNoneMatch] == headers[.entityTag] {
            return HTTPResponse(to: request, status: 304, headers: headers)
        }
        return HTTPResponse(
            to: request, status: 200, headers: headers, body: request.method == .head ? .empty : HTTPBody(data))
    }
}
