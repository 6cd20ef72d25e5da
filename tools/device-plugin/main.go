// The smallest device plugin: one healthy device, example.com/device, that gives a container nothing. With it the recordings show what a
// kubelet does with pods whose plugin has gone.
package main

import (
	"context"
	"log"
	"net"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	api "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"
)

const (
	resource = "example.com/device"
	endpoint = "example.sock"
)

type plugin struct {
	api.UnimplementedDevicePluginServer
}

func (plugin) GetDevicePluginOptions(context.Context, *api.Empty) (*api.DevicePluginOptions, error) {
	return &api.DevicePluginOptions{}, nil
}

func (plugin) ListAndWatch(_ *api.Empty, stream api.DevicePlugin_ListAndWatchServer) error {
	if err := stream.Send(&api.ListAndWatchResponse{Devices: []*api.Device{{ID: "one", Health: api.Healthy}}}); err != nil {
		return err
	}
	<-stream.Context().Done()
	return nil
}

func (plugin) Allocate(_ context.Context, request *api.AllocateRequest) (*api.AllocateResponse, error) {
	answer := &api.AllocateResponse{}
	for range request.ContainerRequests {
		answer.ContainerResponses = append(answer.ContainerResponses, &api.ContainerAllocateResponse{})
	}
	return answer, nil
}

func main() {
	socket := api.DevicePluginPath + endpoint
	os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	api.RegisterDevicePluginServer(server, plugin{})
	go func() { log.Fatal(server.Serve(listener)) }()

	kubelet, err := grpc.NewClient("unix://"+api.KubeletSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	registration := &api.RegisterRequest{Version: api.Version, Endpoint: endpoint, ResourceName: resource}
	if _, err := api.NewRegistrationClient(kubelet).Register(context.Background(), registration); err != nil {
		log.Fatal(err)
	}
	select {}
}
