#if os(Linux) || os(macOS)
package import ErrandEssentials
import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#elseif canImport(Darwin)
import Darwin
#endif

/// A program of the system or of this package.
package struct Program: Sendable {
    package let path: String

    /// Returns nil if the program isn't installed.
    package init?(_ name: String) {
        let folders = [
            "/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin",
        ]
        let places = name.hasPrefix("/") ? [name] : folders.map { "\($0)/\(name)" }
        guard let path = places.first(where: { access($0, X_OK) == 0 }) else { return nil }
        self.path = path
    }

    /// Finds a program of this package, next to the tests.
    package init(built name: String) throws {
        path = try Self.products().appending(path: name).path
    }

    private static func products() throws -> URL {
        #if os(Linux)
        let image = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        #else
        // The program that runs the tests may be Apple's, and may have loaded the test bundle as a plain library.
        var info = Dl_info()
        guard dladdr(#dsohandle, &info) != 0, let name = info.dli_fname else {
            throw Failure(what: "the tests are in no file")
        }
        let image = String(cString: name)
        #endif
        return products(of: image)
    }

    /// The directory of the program or the bundle that contains `image`.
    package static func products(of image: String) -> URL {
        let parts = URL(filePath: image).pathComponents
        let end = parts.lastIndex { $0.hasSuffix(".xctest") } ?? max(parts.count - 1, 1)
        return parts[1..<max(end, 1)].reduce(URL(filePath: "/")) { $0.appending(path: $1) }
    }

    package struct Failure: Error {
        let what: String
    }

    package struct Output: Sendable, CustomStringConvertible {
        /// The exit status, or the number of the signal that ended the program.
        package let status: Int32
        package let wasKilled: Bool
        package let bytes: Data
        package let complaint: String

        package var text: String { String(decoding: bytes, as: UTF8.self) }
        package var description: String { "\(wasKilled ? "signal" : "status") \(status) \(complaint)" }
    }

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - environment: variables in addition to the test's. Proxy variables are removed.
    ///   - directory: defaults to the test's directory.
    ///   - input: a file for standard input. Defaults to an empty one.
    ///   - isKept: whether a shell ends the program when this process ends for any reason. Standard input is then
    ///     empty.
    package func start(
        _ arguments: [String], environment: [String: String] = [:], in directory: URL? = nil,
        input: String = "/dev/null", isKept: Bool = false
    ) throws -> RunningProgram {
        try RunningProgram(path, arguments, environment, directory, input, isKept: isKept)
    }

    /// Runs the program to its end. After `limit`, kills it and throws.
    package func run(
        _ arguments: [String], environment: [String: String] = [:], in directory: URL? = nil,
        input: String = "/dev/null", limit: Duration = .seconds(120)
    ) async throws -> Output {
        let program = try start(arguments, environment: environment, in: directory, input: input)
        let timer = Task {
            try await Task.sleep(for: limit)
            program.signal(SIGKILL)
        }
        defer { timer.cancel() }
        let started = ContinuousClock.now
        let output = try await program.ended()
        if output.wasKilled, output.status == SIGKILL, ContinuousClock.now - started >= limit {
            throw Failure(what: "\(path) took longer than \(limit)")
        }
        return output
    }
}
#endif
