import Errand
import ErrandTesting
import Foundation

/// What the wire is measured against: nginx in a process of its own where it is installed, else the test kit's server,
/// which shares this process and its time.
final class BenchServer: Sendable {
    let url: String
    /// The size of `/large`; nil if the server has none.
    let large: Int?
    let name: String
    /// The process, where it has one of its own.
    let process: pid_t?
    private let end: @Sendable () -> Void

    private init(_ name: String, _ url: String, large: Int?, process: pid_t?, end: @escaping @Sendable () -> Void) {
        (self.name, self.url, self.large, self.process, self.end) = (name, url, large, process, end)
    }

    deinit { end() }

    static func start() async throws -> BenchServer {
        #if os(Linux) || os(macOS)
        for program in ["/usr/sbin/nginx", "/opt/homebrew/bin/nginx"]
        where FileManager.default.isExecutableFile(atPath: program) {
            return try await nginx(program)
        }
        #endif
        let server = try TestServer()
        server.on(.get, "/kilobyte", .data(Data(repeating: 0x61, count: 1024), contentType: "text/plain"))
        return BenchServer("the test kit's server, in this process", server.url, large: nil, process: nil) {
            withExtendedLifetime(server) {}
        }
    }

    #if os(Linux) || os(macOS)
    private static func nginx(_ program: String) async throws -> BenchServer {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-bench-nginx-\(getpid())").path
        try FileManager.default.createDirectory(atPath: folder + "/html", withIntermediateDirectories: true)
        try Data(repeating: 0x61, count: 1024).write(to: URL(filePath: folder + "/html/kilobyte"))
        let large = 1_000_000_000
        // A hole: it costs the server's disk nothing.
        try Data().write(to: URL(filePath: folder + "/html/large"))
        truncate(folder + "/html/large", off_t(large))
        let socket = try TestServer()
        let port = URL(string: socket.url)?.port ?? 0
        socket.stop()
        let configuration = """
            daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log stderr crit;
            events { worker_connections 1024; }
            http {
              access_log off; default_type application/octet-stream; sendfile on; tcp_nopush on;
              keepalive_requests 1000000000; client_body_temp_path a; proxy_temp_path b; fastcgi_temp_path c;
              uwsgi_temp_path d; scgi_temp_path e;
              server { root html; listen 127.0.0.1:\(port); location /post { return 204; } }
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder + "/nginx.conf"))
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = ["-p", folder, "-c", "nginx.conf", "-e", "stderr"]
        try process.run()
        let number = process.processIdentifier
        let server = BenchServer("nginx", "http://127.0.0.1:\(port)", large: large, process: number) {
            kill(number, SIGKILL)
            try? FileManager.default.removeItem(atPath: folder)
        }
        for _ in 0..<1000 {
            if let url = URL(string: server.url + "/kilobyte"), (try? Data(contentsOf: url)) != nil { return server }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw CocoaError(.fileReadUnknown)
    }
    #endif
}
