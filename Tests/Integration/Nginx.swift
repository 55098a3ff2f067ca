#if os(Linux) || os(macOS)
import ErrandTesting
import Foundation

/// An nginx of a test's own, on loopback ports, from a configuration in a directory that goes away with it.
final class Nginx: Sendable {
    static let isInstalled = executable("nginx") != nil && executable("openssl") != nil
    static let skipReason = "nginx and openssl are needed"

    let port: Int
    let tlsPort: Int
    let folder: URL
    private let process: Process

    static let film = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 13) })
    static let text = String(repeating: "Mary had a little lamb, its fleece was white as snow.\n", count: 200)

    /// Returns when it answers.
    init() async throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("errand-nginx-\(UUID().uuidString)")
        let www = folder.appendingPathComponent("www")
        try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
        try Self.film.write(to: www.appendingPathComponent("film.bin"))
        try Data(Self.text.utf8).write(to: www.appendingPathComponent("text.txt"))
        try "ada:{PLAIN}secret\n".write(to: folder.appendingPathComponent("users"), atomically: true, encoding: .utf8)
        try await Self.makeCertificates(in: folder)
        var started: (Int, Int, Process)?
        // A port that is free now may be taken a moment later.
        for _ in 0..<5 where started == nil {
            let ports = try (Self.freePort(), Self.freePort())
            let process = try Self.start(in: folder, ports.0, ports.1)
            if try await Self.isAnswering(ports.0, process) { started = (ports.0, ports.1, process) }
        }
        guard let started else { throw Failure(what: "nginx did not start in \(folder.path)") }
        (port, tlsPort, process) = started
    }

    deinit {
        // Not terminate(): the signal is blocked in children of a thread of the concurrency runtime.
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        try? FileManager.default.removeItem(at: folder)
    }

    struct Failure: Error { let what: String }

    var url: String { "http://127.0.0.1:\(port)" }
    /// The certificate is for this name.
    var secureURL: String { "https://localhost:\(tlsPort)" }
    /// The certificate is not for this one.
    var wrongURL: String { "https://127.0.0.1:\(tlsPort)" }
    var authority: String { folder.appendingPathComponent("ca.pem").path }

    /// The SHA-256 of the server's public key in base64.
    func pin() async throws -> String {
        let command =
            "openssl x509 -in server.pem -noout -pubkey | openssl pkey -pubin -outform DER | "
            + "openssl dgst -sha256 -binary | openssl base64 -A"
        return try await Self.shell(command, in: folder)
    }
}

extension Nginx {
    private static func executable(_ name: String) -> String? {
        ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin"].map { "\($0)/\(name)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    private static func freePort() throws -> Int {
        let server = try TestServer()
        defer { server.stop() }
        return server.port
    }

    /// What a command writes; throws if it fails.
    @discardableResult
    private static func shell(_ command: String, in folder: URL) async throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-ec", command]
        process.currentDirectoryURL = folder
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // Not waitUntilExit(): it may wait for ever on a thread of the concurrency runtime.
        let status = try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Int32, any Error>) in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { ended.resume(throwing: error) }
        }
        guard status == 0 else { throw Failure(what: command) }
        // Short enough to fit into the pipe.
        return String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    }

    private static func makeCertificates(in folder: URL) async throws {
        try await shell(
            """
            key="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
            openssl req -x509 $key -keyout ca.key -out ca.pem -days 2 -subj "/CN=Errand test authority" \
                -addext keyUsage=critical,keyCertSign
            openssl req $key -keyout server.key -out server.csr -subj "/CN=localhost"
            echo "subjectAltName=DNS:localhost" > server.ext
            openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile server.ext \
                -out server.pem
            """, in: folder)
    }

    private static func start(in folder: URL, _ port: Int, _ tlsPort: Int) throws -> Process {
        let locations = """
            root www;
            location = /moved { return 302 /text.txt; }
            location = /empty { return 204; }
            location = /echo { return 200 "$request_method $http_x_probe $connection"; }
            location = /private/text.txt { auth_basic "here"; auth_basic_user_file users; alias www/text.txt; }
            location /limited/ { keepalive_requests 3; alias www/; }
            location /slow/ { limit_rate 4m; limit_rate_after 200k; alias www/; }
            location /old/ { etag off; alias www/; limit_rate 4m; limit_rate_after 200k; }
            location /none/ { max_ranges 0; alias www/; limit_rate 4m; limit_rate_after 200k; }
            """
        let configuration = """
            daemon off; master_process off; pid nginx.pid; error_log error.log;
            events { worker_connections 1024; }
            http {
                access_log off; default_type application/octet-stream; types { text/plain txt; }
                client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
                scgi_temp_path scgi; gzip on; gzip_types text/plain; gzip_min_length 100;
                server { listen 127.0.0.1:\(port); \(locations) }
                server {
                    listen 127.0.0.1:\(tlsPort) ssl http2; listen [::1]:\(tlsPort) ssl http2;
                    ssl_certificate server.pem; ssl_certificate_key server.key; \(locations)
                }
            }
            """
        let hasIPv6 = FileManager.default.fileExists(atPath: "/proc/net/if_inet6")
        let text = hasIPv6 ? configuration : configuration.replacing(" listen [::1]:\(tlsPort) ssl http2;", with: "")
        // Relative paths are taken from the prefix, some of them from the directory of the configuration: the same one.
        try text.replacing("www", with: folder.path + "/www").write(
            to: folder.appendingPathComponent("nginx.conf"), atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: executable("nginx") ?? "/usr/sbin/nginx")
        process.arguments = [
            "-p", folder.path, "-c", folder.path + "/nginx.conf", "-e", folder.path + "/error.log",
        ]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }

    /// Asks until it answers or has ended: it tells nobody that it is ready.
    private static func isAnswering(_ port: Int, _ process: Process) async throws -> Bool {
        for _ in 0..<3_000 where process.isRunning {
            let url = "http://127.0.0.1:\(port)/text.txt"
            let root = URL(filePath: "/")
            if (try? await shell("curl -sf -o /dev/null --noproxy '*' \(url)", in: root)) != nil { return true }
            try await Task.sleep(for: .milliseconds(20))
        }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        return false
    }
}
#endif
