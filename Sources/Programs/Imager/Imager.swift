import CSandbox
import CVips
import Glibc
import ImageProcessing
import Version

/// The program `bookplate-imager`: reads requests from standard input and writes responses to standard output,
/// one at a time, until the input ends.
///
/// It is the only program that decodes images. A malicious image may crash it, but its sandbox prevents
/// anything worse.
@main
enum Imager {
    static let usage = """
        usage: bookplate-imager [--help | --version]

        Decodes cover images and draws title cards in a sandbox. The server starts it
        and talks to it over standard input and output, so it is not run by hand.

        """

    static func main() {
        handleArguments(Array(CommandLine.arguments.dropFirst()))
        bookplate_sandbox_close_others()
        guard bookplate_vips_init("bookplate-imager") == 0 else {
            stop("cannot initialize libvips: \(VipsError().text)")
        }
        vips_concurrency_set(1)
        vips_cache_set_max(0)
        allowAcceptedLoadersOnly()
        // Renders a text once, so that fonts are loaded before the sandbox restricts access to files.
        _ = try? Picture { bookplate_vips_text("Aa", "serif 12", 100, 0, $0) }
        limitResources()
        let code = bookplate_sandbox_enter()
        guard code == 0 else {
            stop("the kernel does not allow the sandbox: \(String(cString: strerror(code)))")
        }
        if let name = firstFormatNotBlocked() { stop("self-test failed: \(name) is not blocked") }
        serve()
    }

    /// Handles `--help` and `--version`, which end the program.
    private static func handleArguments(_ arguments: [String]) {
        guard let argument = arguments.first else { return }
        switch argument {
        case "--help", "-h": print(usage, terminator: "")
        case "--version": print("bookplate-imager \(bookplateVersion)")
        default: stop("Unknown argument \"\(argument)\". See bookplate-imager --help.", code: 64)
        }
        exit(0)
    }

    private static func serve() {
        let channel = FrameChannel(input: STDIN_FILENO, output: STDOUT_FILENO)
        do throws(FrameChannel.Failure) {
            try channel.send(ImageResponse.ready.encoded(), until: nil)
            while let payload = try channel.receive(until: nil) {
                allowCPU(seconds: ImageLimits.cpuSecondsMax)
                try channel.send(response(to: payload).encoded(), until: nil)
                // Returns the memory of large images to the system.
                malloc_trim(0)
            }
        } catch {
            stop("the connection to the server was lost: \(error)")
        }
    }

    private static func response(to payload: [UInt8]) -> ImageResponse {
        do throws(Rejection) {
            switch ImageRequest(payload: payload) {
            case .cover(.memory(let bytes)): return .images(try decodeCover(bytes))
            case .titleCard(let card): return .images(try drawTitleCard(card))
            case .missingScripts:
                return .missingScripts(
                    TitleCardScript.allCases.filter {
                        bookplate_vips_unknown_glyphs($0.sample) > 0
                    })
            case .cover(.file), nil: return .unsupported("The request to the imager is malformed.")
            }
        } catch {
            return .unsupported(error.message)
        }
    }

    static func stop(_ message: String, code: Int32 = 70) -> Never {
        var line = "bookplate-imager: \(message)\n"
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
        exit(code)
    }
}
