#if os(Linux) || os(macOS)
import Errand
import Foundation

/// A transport that runs the `curl` command once per request. It shows how little a transport needs, and isn't meant
/// for production.
struct CurlTool: Transport {
    func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("curl-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        let upload: Data
        do { upload = try await request.body.open().collect(upTo: 1 << 30) } catch let error
            where !(error is ErrandError || error is CancellationError)
        {
            throw ErrandError(.encodingFailed, "the body could not be read", underlying: error)
        }
        if let length = request.body.length, length != Int64(upload.count) {
            throw ErrandError(.invalidRequest, "the body has \(upload.count) bytes, but \(length) were announced")
        }
        try upload.write(to: folder.appendingPathComponent("upload"))
        // Pass the options in a file, because every user of the machine can read the command line.
        try config(request, upload, options).write(
            to: folder.appendingPathComponent("config"), atomically: false, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/curl")
        process.arguments = ["--disable", "--config", "config"]
        process.currentDirectoryURL = folder
        process.standardError = FileHandle.nullDevice
        try await run(process)
        // For HEAD, curl writes the head to the body's file too.
        let hasBody = request.method != .head
        let body = hasBody ? (try? Data(contentsOf: folder.appendingPathComponent("body"))) ?? Data() : Data()
        let head = try Data(contentsOf: folder.appendingPathComponent("head"))
        return try response(to: request, head: String(decoding: head, as: UTF8.self), body)
    }

    private func config(_ request: HTTPRequest, _ upload: Data, _ options: TransportOptions) -> String {
        var lines = ["silent", "globoff", "path-as-is", "http1.1", #"noproxy = "*""#, #"output = "body""#]
        lines.append(#"dump-header = "head""#)
        lines.append("url = \(quoted(request.urlText))")
        lines.append("max-filesize = \(options.maximumBodyBytes)")
        lines.append(request.method == .head ? "head" : "request = \(quoted(request.method.rawValue))")
        if !upload.isEmpty || [.post, .put, .patch].contains(request.method) {
            lines.append(#"data-binary = "@upload""#)
        }
        for name in ["Accept", "User-Agent", "Content-Type", "Expect"] as [HTTPHeaderName]
        where !request.headers.contains(name) {
            lines.append("header = \(quoted("\(name):"))")
        }
        for field in request.headers where field.name != .contentLength {
            lines.append("header = \(quoted(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"))")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func quoted(_ text: String) -> String {
        let escaped = text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\t", with: "\\t")
        return "\"\(escaped)\""
    }

    private func run(_ process: Process) async throws {
        let code = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Int32, any Error>) in
                process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
                do { try process.run() } catch { continuation.resume(throwing: error) }
                if Task.isCancelled, process.isRunning { kill(process.processIdentifier, SIGKILL) }
            }
        } onCancel: {
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
        try Task.checkCancellation()
        if code == 0 { return }
        let codes: [Int32: ErrandError.Code] = [
            5: .nameLookupFailed, 6: .nameLookupFailed, 7: .cannotConnect, 18: .truncated, 28: .timedOut,
            35: .insecureConnection, 52: .connectionLost, 55: .connectionLost, 56: .connectionLost,
            60: .insecureConnection, 63: .bodyTooLarge,
        ]
        throw ErrandError(codes[code] ?? .invalidResponse, "curl ended with \(code)")
    }

    /// Creates the response from the last head: 1xx responses come before it, and trailers after it lack a status line.
    private func response(to request: HTTPRequest, head: String, _ body: Data) throws -> HTTPResponse {
        guard head.hasSuffix("\r\n\r\n") else { throw ErrandError(.connectionLost, "the head is cut off") }
        let blocks = head.replacing("\r\n", with: "\n").split(separator: "\n\n")
        let lines = blocks.last { $0.hasPrefix("HTTP/") }?.split(separator: "\n") ?? []
        guard let first = lines.first, let status = Int(first.split(separator: " ").dropFirst().first ?? "") else {
            throw ErrandError(.invalidResponse, "the response ended before its head was complete")
        }
        var headers = HTTPHeaders()
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            headers.add(HTTPHeaderName(String(line[..<colon])), value)
        }
        return HTTPResponse(to: request, status: status, headers: headers, body: HTTPBody(body), version: "1.1")
    }
}
#endif
