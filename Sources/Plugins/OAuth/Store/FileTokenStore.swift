public import Errand
public import ErrandEssentials
import ErrandSupport

/// Keeps a token in a file that only its owner can read.
///
/// ```swift
/// let store = FileTokenStore(URL.homeDirectory.appending(path: ".config/app/token.json"))
/// ```
///
/// The store replaces the file atomically, so after a crash the file contains the old or the new token. The store
/// creates missing folders, which only the owner can access. Methods throw ``OAuthError`` with `storeFailed` if others
/// can read the file, if the file is a symbolic link, or if its content isn't a token.
///
/// The token isn't encrypted. On Apple's platforms, use `KeychainTokenStore` instead.
///
/// Several processes can share the file, but only one process at a time renews the token. This process locks an empty
/// file with the suffix `.lock`, next to the token's file. The system releases the lock when the process ends.
public struct FileTokenStore: TokenStore {
    private static let maximumBytes = 1 << 20
    /// The longest wait for another process. It's longer than a refresh takes.
    private static let maximumWait = Duration.seconds(120)

    /// The URL of the file, which may not exist yet.
    public let url: URL
    private let time: any TimeSource

    /// Creates a store for a file, which may not exist yet.
    ///
    /// - Parameters:
    ///   - url: The URL of the file.
    ///   - time: The clock that limits the wait for other processes. Defaults to the system's clock.
    public init(_ url: URL, time: some TimeSource = SystemTimeSource()) { (self.url, self.time) = (url, time) }

    /// Returns the token in the file, or nil if there's no file. Throws ``OAuthError`` with `storeFailed`.
    @concurrent public func load() async throws -> OAuthToken? {
        let path = url.path
        let data: Data
        do {
            // Reads the attributes of the open file, so nobody can swap the file in between.
            let file = try SystemFile(path, [.read, .refusesLinks])
            guard let status = file.status, status.permissions & 0o077 == 0 else {
                throw OAuthError(
                    .storeFailed, "other users can read the file \(path.debugDescription); its mode must be 600")
            }
            guard status.size <= Self.maximumBytes else { throw OAuthError(.storeFailed, "the file is too large") }
            data = try file.read(Self.maximumBytes)
        } catch let failure as SystemFile.Failure {
            if failure.code == ENOENT { return nil }
            throw Self.error(failure)
        }
        do { return try JSONDecoder().decode(OAuthToken.self, from: data) } catch {
            throw OAuthError(
                .storeFailed,
                "the file \(path.debugDescription) doesn't contain a valid token: \(error.briefDescription)")
        }
    }

    /// Replaces the file atomically. Only its owner can read it. Throws ``OAuthError`` with `storeFailed`.
    @concurrent public func save(_ token: OAuthToken) async throws {
        let path = url.path
        do {
            let data = try JSONEncoder().encode(token)
            try SystemFile.makeDirectories(url.deletingLastPathComponent().path)
            try SystemFile.replace(path, with: data)
            SystemFile.flushDirectory(of: path)
        } catch { throw Self.error(error) }
    }

    /// Removes the file, if it exists. Throws ``OAuthError`` with `storeFailed`.
    @concurrent public func remove() async throws {
        if SystemFile.remove(url.path) || (try? FileStatus(at: url.path, followingLinks: false)) == nil {
            return SystemFile.flushDirectory(of: url.path)
        }
        throw OAuthError(.storeFailed, "the file \(url.path.debugDescription) can't be removed")
    }

    /// Runs a closure while no other process runs a closure with the same file. If the lock file can't be created, runs
    /// the closure without a lock.
    ///
    /// Throws ``OAuthError`` with `storeFailed` if another process holds the lock for two minutes.
    @concurrent public func exclusively<Value: Sendable>(
        _ body: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let file = Self.lockFile(of: url) else { return try await body() }
        try await Self.lock(file, time)
        do {
            let value = try await body()
            file.unlock()
            return value
        } catch {
            file.unlock()
            throw error
        }
    }

    private static func lockFile(of url: URL) -> SystemFile? {
        do {
            try SystemFile.makeDirectories(url.deletingLastPathComponent().path)
            return try SystemFile(url.path + ".lock", [.read, .write, .create, .refusesLinks], permissions: 0o600)
        } catch { return nil }
    }

    private static func lock(_ file: borrowing SystemFile, _ time: any TimeSource) async throws {
        let end = time.now + maximumWait
        var pause = Duration.milliseconds(5)
        while !file.tryLock() {
            guard time.now < end else {
                throw OAuthError(
                    .storeFailed,
                    "another process has been renewing the token for two minutes, and still holds the lock of "
                        + file.path.debugDescription)
            }
            try await time.sleep(until: time.now + pause)
            pause = min(pause * 2, .milliseconds(100))
        }
    }

    private static func error(_ error: any Error) -> OAuthError {
        OAuthError(.storeFailed, (error as? SystemFile.Failure)?.description ?? error.briefDescription)
    }
}
