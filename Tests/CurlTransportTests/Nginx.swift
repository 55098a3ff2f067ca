#if os(Linux)
import ErrandEssentials
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A real nginx on loopback ports of its own, with certificates that are made for it, for as long as this object lives.
final class Nginx: Sendable {
    static let isInstalled = access("/usr/sbin/nginx", X_OK) == 0 && access("/usr/bin/openssl", X_OK) == 0

    let folder: String
    /// A shell that ends nginx when this pipe is closed, as it is when this process dies, however it does.
    private let keeper: pid_t
    private let lifeline: Int32
    private let ports: [String: UInt16]

    /// Starts it with a server block for each of `servers`: its name and what stands in the block beside `listen`.
    init(_ servers: [(name: String, block: String)]) throws {
        var template = Array("/tmp/errand-nginx.XXXXXX".utf8CString)
        let folder = try #require(mkdtemp(&template).map { String(cString: $0) })
        self.folder = folder
        try Self.makeCertificates(folder)
        mkdir(folder + "/html", 0o755)
        try Data(repeating: 120, count: 1024).write(to: URL(filePath: folder + "/html/1k"))
        try Data(repeating: 120, count: 48 << 20).write(to: URL(filePath: folder + "/html/48m"))
        try Data(String(repeating: "a line of text\n", count: 5000).utf8).write(
            to: URL(filePath: folder + "/html/text.txt"))
        var started: (keeper: pid_t, lifeline: Int32, ports: [String: UInt16])?
        // A port that is free now may be taken a moment later.
        for _ in 0..<5 where started == nil {
            let ports = try Self.freePorts(for: servers.map(\.name))
            let (keeper, lifeline) = try Self.start(servers, ports, in: folder)
            if Self.isListening(in: folder) { started = (keeper, lifeline, ports) } else { Self.end(keeper, lifeline) }
        }
        guard let started else { throw Fault.notStarted }
        (keeper, lifeline, ports) = started
    }

    private static func start(
        _ servers: [(name: String, block: String)], _ ports: [String: UInt16], in folder: String
    ) throws -> (pid_t, Int32) {
        let blocks = servers.map { server in
            "server { root html; listen 127.0.0.1:\(ports[server.name] ?? 0)\(server.block) }"
        }
        let configuration = """
            daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log error.log;
            events { worker_connections 1024; }
            http {
              access_log off; default_type text/plain; gzip on; gzip_types text/plain; client_body_temp_path body;
              proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
              ssl_certificate good.pem; ssl_certificate_key good.key; add_header X-Connection $connection;
              \(blocks.joined(separator: "\n  "))
            }
            """
        try Data(configuration.utf8).write(to: URL(filePath: folder + "/nginx.conf"))
        for name in ["nginx.pid", "error.log"] { unlink("\(folder)/\(name)") }
        var ends: [Int32] = [0, 0]
        try Self.makePipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let script =
            "/usr/sbin/nginx -p \(folder) -c nginx.conf -e error.log </dev/null >/dev/null 2>&1 & read x; kill -9 $!"
        return (try Self.spawn("/bin/sh", ["-c", script], input: ends[0]), ends[1])
    }

    private static func end(_ keeper: pid_t, _ lifeline: Int32) {
        close(lifeline)
        var status: Int32 = 0
        waitpid(keeper, &status, 0)
    }

    private static func makePipe(_ ends: inout [Int32]) throws {
        if pipe(&ends) != 0 { throw Fault.failed(errno) }
    }

    deinit {
        Self.end(keeper, lifeline)
        _ = try? Self.run("/bin/rm", ["-rf", folder])
    }

    func url(_ server: String, _ path: String, scheme: String = "https", host: String = "localhost") -> String {
        "\(scheme)://\(host):\(ports[server] ?? 0)\(path)"
    }

    func file(_ name: String) -> String { "\(folder)/\(name)" }

    /// The Base64 of the SHA-256 of a certificate's public key.
    func pin(_ name: String) throws -> String {
        let script =
            "openssl x509 -in \(name).pem -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary"
        try Self.run("/bin/sh", ["-c", "cd \(folder) && \(script) | openssl base64 -A > \(name).pin"])
        return String(decoding: try Data(contentsOf: URL(filePath: file("\(name).pin"))), as: UTF8.self)
    }

    static func makeCertificates(_ folder: String) throws {
        let script = """
            set -e; cd \(folder)
            ca() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.pem -days 2 -subj /CN=$1; }
            leaf() {
              openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr -subj /CN=$1
              printf "subjectAltName=$3" > $1.ext
              openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -out $1.pem -days $4 -extfile $1.ext
            }
            ca root; ca stranger
            leaf good root DNS:localhost,IP:127.0.0.1 2; leaf elsewhere root DNS:elsewhere.example 2
            leaf expired root DNS:localhost -1; leaf foreign stranger DNS:localhost 2; leaf client root DNS:client 2
            openssl req -x509 -key good.key -out selfsigned.pem -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost
            cp good.key selfsigned.key
            """
        try run("/bin/sh", ["-c", "{ \(script)\n} 2> \(folder)/openssl.log"])
    }

    private static func freePorts(for names: [String]) throws -> [String: UInt16] {
        let servers = try names.map { _ in try RawServer { _ in } }
        return Dictionary(uniqueKeysWithValues: zip(names, servers.map(\.port)))
    }

    /// Waits until it listens on all of its ports, when it writes its number down, or reports that one is taken. To connect
    /// would not do, since another program may have taken a port meanwhile.
    private static func isListening(in folder: String) -> Bool {
        for _ in 0..<30_000 {
            if let pid = try? Data(contentsOf: URL(filePath: folder + "/nginx.pid")), !pid.isEmpty { return true }
            let log = (try? Data(contentsOf: URL(filePath: folder + "/error.log"))) ?? Data()
            if String(decoding: log, as: UTF8.self).contains("still could not bind") { return false }
            usleep(10_000)
        }
        return false
    }

    enum Fault: Error { case notStarted, failed(Int32) }

    @discardableResult
    static func run(_ program: String, _ arguments: [String]) throws -> Int32 {
        let process = try spawn(program, arguments)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        if status != 0 { throw Fault.failed(status) }
        return status
    }

    static func spawn(_ program: String, _ arguments: [String], input: Int32? = nil) throws -> pid_t {
        var list: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        defer { list.forEach { free($0) } }
        var process: pid_t = 0
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input { posix_spawn_file_actions_adddup2(&actions, input, 0) }
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let code = posix_spawn(&process, program, &actions, nil, &list, environ)
        if code != 0 { throw Fault.failed(code) }
        return process
    }
}
#endif
