#if os(Linux) || os(macOS)
package import ErrandEssentials
import ErrandTesting
import Foundation

/// Runs a real nginx on free loopback ports, with freshly made certificates, until this object is deallocated.
///
/// Its folder contains `www`, the root of each server, and certificates with their keys. `root.pem` and `stranger.pem`
/// are authorities. `root` signs `good` (localhost and 127.0.0.1), `named` (only localhost), `elsewhere`, `expired` and
/// `client`; `stranger` signs `foreign`. `selfsigned` is signed by neither. The password of `client.p12` is "secret".
package final class Nginx: Sendable {
    package static let isInstalled = Program("nginx") != nil && Program("openssl") != nil
    package static let skipReason = "nginx and openssl are needed"

    private let directory: Folder
    /// A shell that ends nginx when this process ends.
    private let keeper: RunningProgram
    private let ports: [String: Int]

    /// - Parameters:
    ///   - servers: a name and a server block for each server. The block is the text after its port; `{port}` is
    ///     replaced by the port.
    ///   - files: the contents of `www`, by name.
    ///   - settings: the text before the server blocks. By default it compresses text, and adds `X-Connection`, the
    ///     connection's number.
    package init(
        _ servers: [(name: String, block: String)], files: [String: Data] = [:],
        settings: String = "gzip on; gzip_types text/plain; add_header X-Connection $connection;"
    ) async throws {
        let directory = try Folder()
        let www = directory.file("www")
        try FileManager.default.createDirectory(at: www, withIntermediateDirectories: true)
        for (name, data) in files { try data.write(to: www.appendingPathComponent(name)) }
        try await Self.makeCertificates(in: directory.url)
        var started: (RunningProgram, [String: Int])?
        // Another program can take a free port before nginx does.
        for _ in 0..<5 where started == nil {
            let ports = try Self.freePorts(for: servers.map(\.name))
            try? FileManager.default.removeItem(at: directory.file("nginx.pid"))
            let process = try Self.start(servers, ports, settings, in: directory)
            if try await Self.isListening(process, in: directory) { started = (process, ports) }
        }
        guard let started else { throw Program.Failure(what: "nginx did not start in \(directory.url.path)") }
        (keeper, ports) = started
        self.directory = directory
        CreationObservers.notify(of: self)
    }

    package var folder: URL { directory.url }

    package var process: Int32? {
        let text = (try? directory.data("nginx.pid")).map { String(decoding: $0, as: UTF8.self) }
        return text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    package func port(_ server: String) -> Int { ports[server] ?? 0 }

    package func url(_ server: String, _ path: String = "", scheme: String = "https", host: String = "localhost")
        -> String
    {
        "\(scheme)://\(host):\(port(server))\(path)"
    }

    package func file(_ name: String) -> String { directory.path(name) }

    /// The SHA-256 of a certificate's public key, in base64.
    package func pin(_ name: String) async throws -> String {
        let command =
            "openssl x509 -in \(name).pem -noout -pubkey | openssl pkey -pubin -outform DER | "
            + "openssl dgst -sha256 -binary | openssl base64 -A"
        return try await Self.shell(command, in: folder)
    }
}

extension Nginx {
    /// Returns the command's output. Throws if the command fails.
    @discardableResult
    private static func shell(_ command: String, in folder: URL) async throws -> String {
        guard let shell = Program("sh") else { throw Program.Failure(what: "no shell") }
        let output = try await shell.run(["-ec", command], in: folder)
        guard output.status == 0 else { throw Program.Failure(what: "\(command): \(output.complaint.suffix(300))") }
        return output.text
    }

    package static func makeCertificates(in folder: URL) async throws {
        try await shell(
            """
            ca() {
                openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.pem -days 2 \
                    -subj /CN=$1 -addext keyUsage=critical,keyCertSign
            }
            leaf() {
                openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout $1.key -out $1.csr -subj /CN=$1
                printf "subjectAltName=$3" > $1.ext
                openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial -out $1.pem -days $4 -extfile $1.ext
            }
            ca root; ca stranger
            leaf good root DNS:localhost,IP:127.0.0.1 2; leaf named root DNS:localhost 2
            leaf elsewhere root DNS:elsewhere.example 2; leaf expired root DNS:localhost -1
            leaf foreign stranger DNS:localhost 2; leaf client root DNS:client 2
            openssl req -x509 -key good.key -out selfsigned.pem -days 2 -subj /CN=localhost \
                -addext subjectAltName=DNS:localhost
            cp good.key selfsigned.key
            openssl pkcs12 -export -in client.pem -inkey client.key -out client.p12 -passout pass:secret
            """, in: folder)
    }

    private static func freePorts(for names: [String]) throws -> [String: Int] {
        let servers = try names.map { _ in try TestServer() }
        defer { servers.forEach { $0.stop() } }
        return Dictionary(uniqueKeysWithValues: zip(names, servers.map(\.port)))
    }

    private static func start(
        _ servers: [(name: String, block: String)], _ ports: [String: Int], _ settings: String, in folder: Folder
    ) throws -> RunningProgram {
        let blocks = servers.map { server in
            let port = "\(ports[server.name] ?? 0)"
            return "server { root www; listen 127.0.0.1:\(port)\(server.block.replacing("{port}", with: port)) }"
        }
        let configuration = """
            daemon off; master_process off; worker_processes 1; pid nginx.pid; error_log error.log;
            events { worker_connections 1024; }
            http {
              access_log off; default_type application/octet-stream; types { text/plain txt; }
              client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi;
              scgi_temp_path scgi; ssl_certificate good.pem; ssl_certificate_key good.key; \(settings)
              \(blocks.joined(separator: "\n  "))
            }
            """
        // Relative paths resolve against the prefix or the configuration's directory, which are the same.
        try Data(configuration.replacing("www", with: folder.path("www")).utf8).write(to: folder.file("nginx.conf"))
        guard let nginx = Program("nginx") else { throw Program.Failure(what: "nginx is not installed") }
        return try nginx.start(
            ["-p", folder.url.path, "-c", folder.path("nginx.conf"), "-e", folder.path("error.log")], isKept: true)
    }

    /// Waits until nginx listens or has ended: it writes its pid file once it listens on all ports. A connection
    /// wouldn't prove it, because another program may have taken a port in the meantime.
    private static func isListening(_ process: RunningProgram, in folder: Folder) async throws -> Bool {
        let limit = ContinuousClock.now + .seconds(300)
        while !process.hasEnded {
            if (try? folder.data("nginx.pid"))?.isEmpty == false { return true }
            if ContinuousClock.now > limit { throw Program.Failure(what: "nginx does not listen") }
            try await Task.sleep(for: .milliseconds(1))
        }
        return false
    }
}
#endif
