#if os(Linux) || os(macOS)
import ErrandTesting
import Foundation
import Testing

/// tuspyserver, an independent tus server in Python, with a proxy in front that cuts some connections.
final class TusServer: Sendable {
    static func isInstalled() async -> Bool {
        let output = try? await Program("env")?.run(["python3", "-c", "import tuspyserver, uvicorn"])
        return output?.status == 0
    }

    private static let script = #"""
        import asyncio, os, sys
        import uvicorn
        from fastapi import FastAPI
        from tuspyserver import create_tus_router

        folder, cuts = sys.argv[1], [int(text) for text in sys.argv[2:]]
        app = FastAPI()
        app.include_router(create_tus_router(prefix="files", files_dir=folder + "/files"))

        async def copy(reader, writer, limit=None):
            while data := await reader.read(65536 if limit is None else max(1, min(65536, limit))):
                writer.write(data)
                await writer.drain()
                if limit is not None:
                    limit -= len(data)
                    if limit <= 0:
                        writer.transport.abort()
                        return True
            writer.write_eof()

        async def serve(reader, writer):
            limit = cuts.pop(0) if cuts else None
            up_reader, up_writer = await asyncio.open_connection("127.0.0.1", inner)
            back = asyncio.create_task(copy(up_reader, writer))
            try:
                if await copy(reader, up_writer, limit):
                    writer.transport.abort()
                    back.cancel()
                await back
            except (ConnectionError, asyncio.CancelledError, RuntimeError):
                pass
            finally:
                writer.close()
                up_writer.close()

        async def main():
            global inner
            server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
            task = asyncio.create_task(server.serve())
            while not server.started:
                await asyncio.sleep(0.01)
            inner = server.servers[0].sockets[0].getsockname()[1]
            proxy = await asyncio.start_server(serve, "127.0.0.1", 0)
            with open(folder + "/port.new", "w") as file:
                file.write(str(proxy.sockets[0].getsockname()[1]))
            os.rename(folder + "/port.new", folder + "/port")
            await task

        asyncio.run(main())
        """#

    private let folder: Folder
    private let process: RunningProgram
    let url: String

    /// - Parameter cuts: The numbers of bytes after which connections are cut, one per connection, in order.
    init(cutting cuts: [Int] = []) async throws {
        let folder = try Folder(["server.py": Self.script])
        try FileManager.default.createDirectory(at: folder.file("files"), withIntermediateDirectories: true)
        let python = try #require(Program("env"))
        let process = try python.start(
            ["python3", folder.path("server.py"), folder.url.path] + cuts.map(String.init), isKept: true)
        try await eventually {
            try #require(!process.hasEnded, "tuspyserver has ended")
            return FileManager.default.fileExists(atPath: folder.path("port"))
        }
        url = "http://127.0.0.1:\(String(decoding: try folder.data("port"), as: UTF8.self))"
        (self.folder, self.process) = (folder, process)
    }

    /// Returns the contents of all uploads on the server, complete or not.
    func contents() throws -> [Data] {
        try FileManager.default.contentsOfDirectory(at: folder.file("files"), includingPropertiesForKeys: nil)
            .filter { $0.pathExtension.isEmpty && !$0.lastPathComponent.hasPrefix(".") }
            .map { try Data(contentsOf: $0) }
    }
}
#endif
