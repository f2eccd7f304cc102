import { WebServer, type WebServerOptions } from './web-server.js';

/** Starts a Prometheus server on a free port of this machine with the given configuration, and waits until it is ready. */
export function startPrometheus(options: WebServerOptions): Promise<WebServer> {
  return WebServer.start(
    {
      name: 'Prometheus',
      command: 'prometheus',
      debianPackage: 'prometheus',
      args: ({ listen, data, configFile }) => [
        `--config.file=${configFile}`,
        `--storage.tsdb.path=${data}`,
        `--web.listen-address=${listen}`,
        '--web.enable-lifecycle',
      ],
    },
    options,
  );
}
