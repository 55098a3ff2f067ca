import Errand
public import ErrandEssentials
import ErrandSupport

/// Keeps a token in a file that only its owner can read.
///
/// ```swift
/// let store = FileTokenStore(URL.homeDirectory.appending(path: ".config/app/token.json"))
/// ```
///
/// The file is replaced as a whole, so a crash leaves the old or the new token. Missing folders are created for the owner
/// only. A file that others can read, a symbolic link, or content that isn't a token throws ``OAuthError`` with
/// `storeFailed`. The token isn't encrypted: on Apple's platforms, use `KeychainTokenStore`.
public struct FileTokenStore: TokenStore {
    private static let maximumBytes = 1 << 20

    /// The file.
    public let url: URL

    /// Creates a store for a file, which needn't exist.
    public init(_ url: URL) { self.url = url }

    /// Returns the token in the file, or nil without a file.
    @concurrent public func load() async throws -> OAuthToken? {
        let path = url.path
        let data: Data
        do {
            // The attributes belong to the open file, so nobody can exchange it in between.
            let file = try SystemFile(path, [.read, .refusesLinks])
            guard let status = file.status, status.permissions & 0o077 == 0 else {
                throw OAuthError(
                    .storeFailed, "others can read the file \(path.debugDescription); its mode must be 600")
            }
            guard status.size <= Self.maximumBytes else { throw OAuthError(.storeFailed, "the file is too large") }
            data = try file.read(Self.maximumBytes)
        } catch let failure as SystemFile.Failure {
            if failure.code == ENOENT { return nil }
            throw Self.error(failure)
        }
        do { return try JSONDecoder().decode(OAuthToken.self, from: data) } catch {
            throw OAuthError(.storeFailed, "the file \(path.debugDescription) isn't a token: \(error.briefDescription)")
        }
    }

    /// Replaces the file.
    @concurrent public func save(_ token: OAuthToken) async throws {
        let path = url.path
        do {
            let data = try JSONEncoder().encode(token)
            try SystemFile.makeDirectories(url.deletingLastPathComponent().path)
            try SystemFile.replace(path, with: data)
            SystemFile.flushDirectory(of: path)
        } catch { throw Self.error(error) }
    }

    /// Removes the file.
    @concurrent public func remove() async throws {
        if SystemFile.remove(url.path) || (try? FileStatus(at: url.path, followingLinks: false)) == nil {
            return SystemFile.flushDirectory(of: url.path)
        }
        throw OAuthError(.storeFailed, "the file \(url.path.debugDescription) can't be removed")
    }

    private static func error(_ error: any Error) -> OAuthError {
        OAuthError(.storeFailed, (error as? SystemFile.Failure)?.description ?? error.briefDescription)
    }
}
